// Cancelled tasks, and workers that die, leave or are killed. Runs host and workers step by step, in many orders of small cases.
import { endCases } from './cases.js'
import { testOrders } from './test-orders.js'

testOrders('the lane with cancelled tasks and ending workers', endCases)
