// The options that say where handlers run: for the pool, and for single exports of its file.
import { InvalidOptionError } from '../../shared/errors/pool-errors.js'
import type { BackendKind } from '../backend/backend-kind.js'
import { FifoQueue } from '../queue/fifo-queue.js'
import { FixedQueue } from '../queue/fixed-queue.js'
import { PriorityQueue } from '../queue/priority-queue.js'
import type { TaskQueue } from '../queue/task-queue.js'
import { plainObject, refuse } from './option-checks.js'
import type { PoolOptions } from './options.js'
import { resolveWorkerOptions } from './worker-options.js'

export interface HandlerOptions {
  /** Where this handler's tasks run. Default: the pool's `backend`. */
  backend?: BackendKind | undefined
}

const kinds: readonly unknown[] = ['thread', 'process', 'inline'] satisfies BackendKind[]

export function resolveBackend(given: unknown, option = 'backend'): BackendKind {
  if (given === undefined) return 'thread'
  return kinds.includes(given)
    ? (given as BackendKind)
    : refuse(option, given, "'thread', 'process' or 'inline'")
}

/** Only those that differ from the pool are kept. */
export function resolveHandlers(
  given: unknown,
  pools: BackendKind,
  filename: string | null,
  options: PoolOptions,
): ReadonlyMap<string, BackendKind> | null {
  if (given === undefined) return null
  const said = Object.entries(plainObject('handlers', given))
  if (said.length > 0 && filename === null) {
    throw new InvalidOptionError(
      'handlers',
      "The option 'handlers' speaks of exports of 'filename': give that too.",
    )
  }
  const elsewhere = new Map<string, BackendKind>()
  for (const [name, value] of said) {
    const option = `handlers.${name}`
    const own: HandlerOptions = Object.assign(Object.create(null), plainObject(option, value))
    for (const key of Object.keys(own)) {
      if (key === 'backend') continue
      throw new InvalidOptionError(
        option,
        `The option '${option}' has no '${key}', only 'backend', as in { backend: 'process' }.`,
      )
    }
    const backend = own.backend === undefined ? pools : resolveBackend(own.backend, `${option}.backend`)
    if (backend !== pools) elsewhere.set(name, backend)
  }
  if (elsewhere.size > 0 && options.queue !== undefined) anotherQueue(options.queue)
  return elsewhere.size === 0 ? null : elsewhere
}

/** What the workers of each backend are started with that is not the pool's. */
export function resolveAnnexes(
  handlers: ReadonlyMap<string, BackendKind> | null,
  options: PoolOptions,
): ReadonlyMap<BackendKind, Record<string, unknown>> {
  const kinds = new Set(handlers?.values())
  return new Map([...kinds].map(kind => [kind, resolveWorkerOptions(options, kind)]))
}

/** Each backend has a queue of its own, of the kind that was given. */
export function anotherQueue(queue: TaskQueue): TaskQueue {
  if (queue.constructor === FifoQueue) return new FifoQueue()
  if (queue.constructor === PriorityQueue) return new PriorityQueue()
  if (queue.constructor === FixedQueue) return new FixedQueue((queue as FixedQueue).capacity)
  throw new InvalidOptionError(
    'queue',
    "A 'queue' of your own serves one backend: leave 'handlers' out, or make a pool for each backend.",
  )
}
