// `pool.trace()` and `pool.profile()`: record for some time, or until a signal ends it.
import type { PoolMessage, TaskMessage } from '../../api/channels.js'
import type { CpuProfile, Trace } from '../../api/trace.js'
import { realClock } from '../../shared/platform/clock.js'
import { getBuiltinModule } from '../../shared/platform/node-modules.js'
import { profileOf } from './handler-profile.js'
import { RecordedTrace } from './recorded-trace.js'
import type { Recording } from './recording.js'
import type { TracedPool } from './seen-workers.js'
import { TraceRecorder } from './trace.js'

/** How long a recording without an end looks back. */
const KEPT_MS = 30_000

export interface RecordOptions {
  readonly seconds: number
  readonly cpu: boolean
  readonly signal: AbortSignal | null
  /** The start of the recording, on the host's clock. */
  readonly startedAt: number
  /** Returns the tasks that started since. Called once, when the recorder listens itself. */
  readonly early: () => readonly TaskMessage[]
}

export async function traceOf(pools: readonly TracedPool[], options: RecordOptions): Promise<Trace> {
  return new RecordedTrace(await record(pools, options))
}

export async function cpuProfileOf(
  pools: readonly TracedPool[],
  options: RecordOptions,
): Promise<CpuProfile> {
  return profileOf(await record(pools, options))
}

async function record(
  pools: readonly TracedPool[],
  { seconds, cpu, signal, startedAt, early }: RecordOptions,
): Promise<Recording> {
  const isEndless = seconds === Number.POSITIVE_INFINITY
  const recorder = new TraceRecorder(pools, { cpu, keepMs: isEndless ? KEPT_MS : Number.POSITIVE_INFINITY })
  const closed = new Closed(pools)
  try {
    await recorder.start(startedAt, early())
    await untilOver(seconds * 1000 - (realClock.now() - startedAt), signal, closed)
  } finally {
    closed.end()
  }
  return await recorder.end()
}

function untilOver(ms: number, signal: AbortSignal | null, closed: Closed): Promise<void> {
  return new Promise(resolve => {
    const end = () => {
      timer.cancel()
      signal?.removeEventListener('abort', end)
      resolve()
    }
    const timer = realClock.after(Math.max(0, ms), end, true)
    signal?.addEventListener('abort', end)
    if (signal?.aborted) end()
    else void closed.all.then(end)
  })
}

/** Waits until all pools of the recording are closed. */
class Closed {
  readonly all: Promise<void>
  readonly #channel = getBuiltinModule('node:diagnostics_channel').channel('lido.pool.close')
  readonly #open: Set<number>
  readonly #onClose = (message: unknown) => {
    this.#open.delete((message as PoolMessage).id)
    if (this.#open.size === 0) this.#resolve()
  }
  #resolve!: () => void

  constructor(pools: readonly TracedPool[]) {
    this.#open = new Set(pools.map(({ identity }) => identity.id))
    this.all = new Promise(resolve => {
      this.#resolve = resolve
    })
    this.#channel.subscribe(this.#onClose)
  }

  end(): void {
    this.#channel.unsubscribe(this.#onClose)
  }
}
