// What a worker does for its host: load the pool's file, then take tasks until it is told to stop.
import type { MessagePort } from 'node:worker_threads'
import { unreachable } from '../shared/base/invariant.js'
import { pack } from '../shared/errors/remote-error.js'
import type { StartOrder, ToHost, ToWorker } from '../shared/protocol/messages.js'
import { Executor } from './executor.js'
import { loadHandler, watchTeardowns } from './handler-loader.js'
import type { Intake } from './intake.js'
import { LaneIntake } from './lane-intake.js'
import { Limits } from './limits.js'
import { endAsPlanned } from './planned-end.js'
import { PortIntake } from './port-intake.js'

export async function serve({ port, road, niceIncrement, preload, limits }: StartOrder): Promise<void> {
  let isLeaving = false
  /** The host is told before it hears of anything that was done since. */
  const leave = () => {
    if (isLeaving) return
    isLeaving = true
    intake.leave()
    say(port, { kind: 'leaving' })
  }
  const executor = new Executor({ onStale: leave, onEnd: () => intake.stopTaking() }, road.context)
  if (limits !== null) executor.limits = new Limits(limits, leave, () => say(port, { kind: 'heavy' }))
  watchTeardowns(() => say(port, { kind: 'hasTeardown' }))
  const intake: Intake =
    road.kind === 'lane' ? new LaneIntake(port, road, executor) : new PortIntake(port, road, executor)
  if (niceIncrement !== 0) await lowerPriority(niceIncrement)
  let loading: Promise<unknown> | null = null
  // Listening before the file is loaded. A worker told to stop meanwhile ends when it is: Node never closes a file that a
  // thread was reading when it ended. The host's patience bounds that.
  port.on('message', (message: ToWorker) => {
    switch (message.kind) {
      case 'run':
      case 'bell':
      case 'known':
      case 'drop':
      case 'cancel':
      case 'ask':
      case 'audit':
        return intake.onMessage(message)
      case 'leave':
        leave()
        return intake.onMessage(message)
      case 'end':
        intake.stopTaking()
        return void endAsPlanned(port)
      case 'stop':
        return loading === null ? process.exit() : void loading.then(exit, exit)
      default:
        return unreachable(message)
    }
  })
  port.on('messageerror', () => intake.onUnreadable())
  // What the runtime tells of the end has lost the class and what could not be cloned.
  process.on('uncaughtExceptionMonitor', failure => say(port, { kind: 'crashed', error: pack(failure) }))

  try {
    if (preload !== null) {
      loading = loadHandler(preload)
      await loading
      loading = null
    }
  } catch (failure) {
    say(port, { kind: 'startFailed', error: pack(failure) })
    return process.exit()
  }
  say(port, { kind: 'ready' })
  intake.open()
}

function exit(): never {
  return process.exit()
}

function say(port: MessagePort, message: ToHost): void {
  port.postMessage(message)
}

/** The package is optional: without it the priority stays as it is. */
async function lowerPriority(niceIncrement: number): Promise<void> {
  try {
    const { nice } = await import('@napi-rs/nice')
    nice(niceIncrement)
  } catch (failure) {
    const why = failure instanceof Error ? failure.message : String(failure)
    process.emitWarning(
      `niceIncrement needs the package @napi-rs/nice (${why}). Install it, or leave the option out.`,
    )
  }
}
