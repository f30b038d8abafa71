// A worker's life from its first line. The host's order waits on the parent port; everything after it comes over the
// pool's own port, and the parent port is the user's.
import './mark-worker.js'
import { parentPort, receiveMessageOnPort } from 'node:worker_threads'
import { invariant } from '../shared/base/invariant.js'
import type { StartOrder } from '../shared/protocol/messages.js'
import { serve } from './serve.js'

invariant(parentPort !== null, 'the worker entry runs in a worker')
const order = receiveMessageOnPort(parentPort)
if (order !== undefined) void serve(order.message as StartOrder)
else parentPort.once('message', (late: StartOrder) => void serve(late))
