// What a worker does for its host: load the pool's file, then take tasks until it is told to stop.

import { serializeError } from '../shared/errors/serialize-error.js'
import type { Handler } from '../shared/messages/handler.js'
import type { HostPort, ToHost, ToWorker, WorkerOrder } from '../shared/messages/messages.js'
import { unreachable } from '../shared/platform/invariant.js'
import { Executor } from './executor.js'
import { noteAbove } from './handler-loader.js'
import type { Intake } from './intake.js'
import { Limits } from './limits.js'
import { Meter } from './meter.js'
import { Modules } from './modules.js'
import type { Place } from './place.js'
import { endAsPlanned } from './planned-end.js'

export async function serve(
  { niceIncrement, preload, limits, measures, above }: WorkerOrder,
  place: Place,
): Promise<void> {
  const { port } = place
  const end = () => place.end()
  let isLeaving = false
  /** `null` before the host has asked for the end; a later word takes the place of an earlier one. */
  let atEnd: (() => unknown) | null = null
  /** The host is told before it hears of anything that was done since. */
  const leave = () => {
    if (isLeaving) return
    isLeaving = true
    intake.leave()
    say(port, { kind: 'leaving' })
  }
  const modules = new Modules(place.isThreadsOwn, () => say(port, { kind: 'hasTeardown' }))
  const hooks = {
    onStale: leave,
    onEnd: () => intake.stopTaking(),
    flush: () => place.flush(),
    load: (handler: Handler) => modules.load(handler),
  }
  const executor = new Executor(hooks)
  if (limits !== null) executor.limits = new Limits(limits, leave, () => say(port, { kind: 'heavy' }))
  if (measures) executor.meter = new Meter(handlers => say(port, { kind: 'measured', handlers }))
  const intake: Intake = place.makeIntake(executor)
  place.onEnd(() => {
    executor.end()
    modules.takeDown()
  })
  // What the runtime tells of the end has lost the class and what could not be cloned.
  place.onCrash(failure => say(port, { kind: 'crashed', error: serializeError(failure) }))
  if (niceIncrement !== 0) await lowerPriority(niceIncrement)
  let loading: Promise<unknown> | null = null
  /** Not while the file is loading: Node never closes a file that a thread was reading when it ended. */
  const endBy = (how: () => unknown) => {
    const isAwaited = atEnd !== null
    atEnd = how
    if (loading === null) how()
    else if (!isAwaited) void loading.then(() => atEnd!(), end)
  }
  // Listening before the file is loaded. The host's patience bounds how long that takes where it has asked for the end.
  port.on('message', (message: ToWorker) => {
    if (message === 'bell') return intake.onMessage(message)
    switch (message.kind) {
      case 'run':
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
        return endBy(() => endAsPlanned(place, modules))
      case 'stop':
        return endBy(end)
      default:
        return unreachable(message)
    }
  })
  port.on('messageerror', () => intake.onUnreadable())

  if (above !== null) noteAbove(above)
  try {
    if (preload !== null) {
      loading = modules.load(preload)
      await loading
      loading = null
    }
  } catch (failure) {
    say(port, { kind: 'startFailed', error: serializeError(failure) })
    return end()
  }
  if (atEnd !== null) return
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
