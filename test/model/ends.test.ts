// The same where tasks are cancelled and workers end.
import { endCases } from './cases.js'
import { testOrders } from './test-orders.js'

testOrders('every task is settled once, whatever is cancelled and whoever dies', endCases)
