// The first file of a worker thread. The host posts the start order to the parent port. All later messages use the pool's own
// port, so the parent port belongs to the user.
import { parentPort, receiveMessageOnPort } from 'node:worker_threads'
import type { StartOrder } from '../../shared/messages/messages.js'
import { invariant } from '../../shared/platform/invariant.js'
import { TaskSource } from '../lane/task-source.js'
import { workerClock } from '../run/clock.js'
import { serve } from '../run/serve.js'
import { flushStdio } from '../run/stdio.js'
import { markWorker, watchCrash } from './own-thread.js'

/** The host posts the order in the turn in which it starts the thread, so it usually waits at the port already. */
const ORDER_TIMEOUT_MS = 5000

markWorker()
invariant(parentPort !== null, 'the worker entry runs in a worker')
const waitingOrder = receiveMessageOnPort(parentPort)
if (waitingOrder !== undefined) start(waitingOrder.message as StartOrder)
else {
  const timeout = workerClock.after(ORDER_TIMEOUT_MS, failWithoutOrder)
  parentPort.once('message', (order: StartOrder) => {
    timeout.cancel()
    start(order)
  })
}

/** A file that Node loaded before this one listened to the parent port and took the order. */
function failWithoutOrder(): never {
  const failure = new Error('What listens to the parent port took the message that starts the worker')
  throw Object.assign(failure, { code: 'ERR_WORKER_INIT_FAILED', exitCode: 1 })
}

function start(order: StartOrder): void {
  const { lane, port } = order
  let isExiting = false
  process.on('exit', () => {
    isExiting = true
  })
  void serve(order, {
    ownsThread: true,
    port,
    makeSource: executor => new TaskSource(port, lane, executor),
    flush: flushStdio,
    onEnd: callback => process.on('exit', callback),
    onCrash: callback =>
      watchCrash(callback, () => {
        // The runtime would also post the exception to the host. If it cannot be read there, it would end the host's process.
        if (!isExiting) process.exit(1)
      }),
    end: exitCode => process.exit(exitCode),
  })
}
