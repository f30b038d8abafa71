// The life of a worker that is a process, from its first line. Its pipes are open: 3 from the host, 4 to the host, 5 is held
// by the host's life. What a user sends by `process.send` travels on another channel and stays the user's.
import './mark-worker.js'
import type { ProcessOrder } from '../shared/messages/messages.js'
import { globalSymbol } from '../shared/platform/global-symbol.js'
import { watchCrash } from './crash.js'
import { reportFatalErrors } from './fatal-report.js'
import { holdLifeline } from './lifeline.js'
import { PipePort } from './pipe-port.js'
import { PortIntake } from './port-intake.js'
import { serve } from './serve.js'
import { flushStdio } from './stdio-flush.js'

// Before any handler can change what they are.
const exit = process.exit.bind(process)
const send = process.send?.bind(process)
/** Of a kind that the runtime keeps from who listens to messages. */
const LAST_MESSAGE = { cmd: 'NODE_LIDO_END' }

// They reach a whole group of processes, as Ctrl-C does: the host decides what becomes of its workers.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => {})

const port: PipePort = new PipePort(3, 4, { onOrder: begin, onEnd: () => exit(1) })
holdLifeline(5)

function begin(order: ProcessOrder): void {
  // What ends it from here on is not what Node was told to load before.
  port.postMessage({ kind: 'alive' })
  if (order.reportFd !== null) reportFatalErrors(order.reportFd)
  Object.defineProperty(globalThis, globalSymbol('workerData'), { value: order.workerData })
  void serve(order, {
    isThreadsOwn: true,
    port,
    makeIntake: executor => new PortIntake(port, port, executor),
    flush: flushStdio,
    onEnd: callback => process.on('exit', callback),
    onCrash: watchCrash,
    end: exitCode => (exitCode === 0 ? endWhenSent() : exit(exitCode)),
  })
}

/** What the user has sent and the host has not taken in would be lost with this process. The host bounds how long that takes. */
function endWhenSent(): void {
  if (send === undefined || !process.connected) return exit(0)
  send(LAST_MESSAGE, () => exit(0))
}
