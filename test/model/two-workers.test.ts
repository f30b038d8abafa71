// Two workers. Runs the code of the host and of the workers step by step, in many orders of small cases.
import { twoWorkerCases } from './cases.js'
import { testOrders } from './test-orders.js'

testOrders('the lane with two workers', twoWorkerCases)
