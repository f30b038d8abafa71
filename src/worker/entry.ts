// A worker's life from its first line. The host's order waits on the parent port; everything after it comes over the
// pool's own port, and the parent port is the user's.
import './mark-worker.js'
import { parentPort, receiveMessageOnPort } from 'node:worker_threads'
import type { StartOrder } from '../shared/messages/messages.js'
import { invariant } from '../shared/platform/invariant.js'
import { realClock } from './clock.js'
import { watchCrash } from './crash.js'
import { LaneIntake } from './lane-intake.js'
import { PortIntake } from './port-intake.js'
import { serve } from './serve.js'
import { SharedSlotBook } from './slot-book.js'
import { flushStdio } from './stdio-flush.js'

/** The order is posted in the turn in which the thread is started, and so is here long before. */
const ORDER_MS = 5000

// Before any handler's module can put another in its place.
const exit = process.exit.bind(process)

invariant(parentPort !== null, 'the worker entry runs in a worker')
const order = receiveMessageOnPort(parentPort)
if (order !== undefined) begin(order.message as StartOrder)
else {
  const patience = realClock.after(ORDER_MS, orderIsLost)
  parentPort.once('message', (order: StartOrder) => {
    patience.cancel()
    begin(order)
  })
}

/** It went to a file that Node loads before this one, which listened and then waited for something. */
function orderIsLost(): never {
  const failure = new Error('What listens to the parent port took the message that starts the worker')
  throw Object.assign(failure, { code: 'ERR_WORKER_INIT_FAILED', exitCode: 1 })
}

function begin(order: StartOrder): void {
  const { port, road } = order
  invariant(road.kind !== 'pipe', 'a thread has a port')
  let isExiting = false
  process.on('exit', () => {
    isExiting = true
  })
  void serve(order, {
    isThreadsOwn: true,
    port,
    makeIntake: executor =>
      road.kind === 'lane'
        ? new LaneIntake(port, road, executor)
        : new PortIntake(port, new SharedSlotBook(road), executor),
    flush: flushStdio,
    onEnd: callback => process.on('exit', callback),
    onCrash: callback =>
      watchCrash(callback, () => {
        // The runtime would tell the host too, which may not be able to read it: and of that the host's process would end.
        if (!isExiting) exit(1)
      }),
    end: exit,
  })
}
