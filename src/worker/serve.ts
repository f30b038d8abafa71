// What a worker does for its host: load the pool's file, then take tasks until it is told to stop.
import { unreachable } from '../shared/base/invariant.js'
import { pack } from '../shared/errors/remote-error.js'
import type { HostPort, ToHost, ToWorker, WorkerOrder } from '../shared/protocol/messages.js'
import { Executor } from './executor.js'
import { loadHandler } from './handler-loader.js'
import type { Intake } from './intake.js'
import type { Place } from './place.js'

export async function serve({ niceIncrement, preload }: WorkerOrder, place: Place): Promise<void> {
  const { port } = place
  const executor = new Executor({
    onStale() {
      intake.stopTaking()
      say(port, { kind: 'stale' })
    },
    onEnd: () => intake.stopTaking(),
    flush: place.flush,
  })
  const intake: Intake = place.makeIntake(executor)
  place.onEnd(() => executor.end())
  if (niceIncrement !== 0) await lowerPriority(niceIncrement)
  // Listening before the file is loaded: a worker told to stop need not load it to the end.
  port.on('message', (message: ToWorker) => {
    switch (message.kind) {
      case 'run':
      case 'bell':
      case 'known':
      case 'drop':
      case 'audit':
        return intake.onMessage(message)
      case 'stop':
        return place.end()
      default:
        return unreachable(message)
    }
  })
  port.on('messageerror', () => intake.onUnreadable())

  try {
    if (preload !== null) await loadHandler(preload)
  } catch (failure) {
    say(port, { kind: 'startFailed', error: pack(failure) })
    return place.end()
  }
  say(port, { kind: 'ready' })
  intake.open()
}

function say(port: HostPort, message: ToHost): void {
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
