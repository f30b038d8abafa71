// Tasks are cancelled, and workers end.
import { endCases } from './cases.js'
import { testOrders } from './test-orders.js'

testOrders('every task is settled once, also when tasks are cancelled and workers end', endCases)
