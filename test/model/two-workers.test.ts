// The same with a second worker.
import { twoWorkerCases } from './cases.js'
import { testOrders } from './test-orders.js'

testOrders(
  'two workers: every task is answered once, in order, and nobody sleeps through anything',
  twoWorkerCases,
)
