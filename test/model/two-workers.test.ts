// Two workers: the same promises.
import { twoWorkerCases } from './cases.js'
import { testOrders } from './test-orders.js'

testOrders('two workers answer every task once, in order, and all sides miss no wake-up', twoWorkerCases)
