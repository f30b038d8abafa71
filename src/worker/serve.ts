// What a worker does for its host: load the pool's file, then answer messages until it is told to stop.
import type { MessagePort } from 'node:worker_threads'
import { unreachable } from '../shared/base/invariant.js'
import { pack } from '../shared/errors/remote-error.js'
import type { StartOrder, ToHost, ToWorker } from '../shared/protocol/messages.js'
import { Executor } from './executor.js'
import { loadHandler } from './handler-loader.js'
import { Spinner } from './spinner.js'

export async function serve({ port, claims, niceIncrement, preload }: StartOrder): Promise<void> {
  let received = 0
  const spinner = new Spinner(claims)
  const executor = new Executor(port, claims, () => spinner.lookOut(received))
  if (niceIncrement !== 0) await lowerPriority(niceIncrement)
  // Listening before the file is loaded: a worker told to stop need not load it to the end.
  const early: RunMessages = []
  let isLoading = true

  port.on('message', (message: ToWorker) => {
    switch (message.kind) {
      case 'run':
        received++
        if (isLoading) early.push(message)
        else executor.run(message)
        return
      case 'audit':
        return say(port, { kind: 'holding', taskIds: executor.running, received })
      case 'stop':
        return process.exit()
      default:
        return unreachable(message)
    }
  })
  port.on('messageerror', () => say(port, { kind: 'unreadable', ordinal: ++received }))

  try {
    if (preload !== null) await loadHandler(preload)
  } catch (failure) {
    say(port, { kind: 'startFailed', error: pack(failure) })
    return process.exit()
  }
  say(port, { kind: 'ready' })
  isLoading = false
  for (const message of early) executor.run(message)
}

type RunMessages = Extract<ToWorker, { kind: 'run' }>[]

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
