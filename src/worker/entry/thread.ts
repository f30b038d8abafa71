// A worker thread. The host posts the start order to the parent port. All later messages use a port
// of the pool, so the user can use the parent port.
import { type MessagePort, parentPort, receiveMessageOnPort, threadId } from 'node:worker_threads'
import { inheritLoadingFiles } from '../../shared/messages/handler-ref.js'
import type { StartOrder } from '../../shared/messages/messages.js'
import { invariant } from '../../shared/platform/invariant.js'
import { reportLoadedFiles } from '../../shared/platform/watch-mode.js'
import { TaskSource } from '../lane/task-source.js'
import { workerClock } from '../run/clock.js'
import { promiseHooks } from '../run/executor.js'
import { WorkerLife } from '../run/life.js'
import { ModuleLoader } from '../run/module-loader.js'
import { flushStdio } from '../run/stdio.js'
import { UnfinishedWork } from '../run/unfinished-work.js'
import { exit, markWorker, watchCrash } from './own-thread.js'

/** Usually the order is already at the port, because the host posts it in the turn in which it starts the thread. */
const ORDER_TIMEOUT_MS = 5000

/** Makes this thread a worker. */
export function startThread(): void {
  markWorker()
  invariant(parentPort !== null, 'the worker entry runs in a worker')
  reportLoadedFiles(parentPort)
  const waitingOrder = receiveWaiting(parentPort)
  if (waitingOrder !== undefined) start(waitingOrder.message as StartOrder)
  else {
    const timeout = workerClock.after(ORDER_TIMEOUT_MS, failWithoutOrder)
    parentPort.once('message', (order: StartOrder) => {
      timeout.cancel()
      start(order)
    })
  }
}

/** In Deno the parent port is no `MessagePort`. Then the order comes as an event. */
function receiveWaiting(port: MessagePort): { message: unknown } | undefined {
  try {
    return receiveMessageOnPort(port)
  } catch {
    return undefined
  }
}

/** Fails because a preloaded file listened to the parent port and received the order. */
function failWithoutOrder(): never {
  const failure = new Error('A preloaded file listens to the parent port and took the start message')
  throw Object.assign(failure, { code: 'ERR_WORKER_INIT_FAILED', exitCode: 1 })
}

function start(order: StartOrder): void {
  inheritLoadingFiles(order.loading)
  const { lane, port } = order
  let isExiting = false
  process.on('exit', () => {
    isExiting = true
  })
  const life = new WorkerLife(order, {
    ...promiseHooks,
    work: new UnfinishedWork(),
    threadId,
    port,
    makeLoader: (setupTimeoutMs, onTeardown) => new ModuleLoader(true, setupTimeoutMs, onTeardown),
    makeSource: executor => new TaskSource(port, lane, executor),
    flush: flushStdio,
    cpuMs: () => workerClock.onCore(),
    onEnd: callback => process.on('exit', callback),
    onCrash: callback =>
      watchCrash(callback, () => {
        // Exits before Node also posts the exception to the host, which would end the host if it cannot read the
        // exception.
        if (!isExiting) exit(1)
      }),
    end: exitCode => exit(exitCode),
  })
  void life.start()
}
