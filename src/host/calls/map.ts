// `pool.map()`: a map whose items are tasks of the engine.
import type { MapOptions } from '../../api/call-options.js'
import type { PoolError, PublicFunction } from '../../shared/errors/pool-errors.js'
import type { Clock } from '../../shared/platform/clock.js'
import type { Engine } from '../engine/engine.js'
import { FifoQueue } from '../queue/fifo-queue.js'
import { PriorityQueue } from '../queue/priority-queue.js'
import type { CallTerms } from '../task/call.js'
import type { Task } from '../task/task.js'
import type { ReadRunOptions } from './call-options.js'
import { callOf, termsOf } from './call-terms.js'
import { forCaller } from './caller-stack.js'
import { withProgress } from './exchange.js'
import {
  checkSource,
  type ItemSettings,
  type MapSettings,
  readMap,
  refusePacks,
  textOfItem,
} from './map-options.js'
import { MapPacks } from './map-packs.js'
import { MapRun, type MapRunner, type SubmittedItem } from './map-run.js'

/** The map of one call. Throws `InvalidTaskError`. */
export function mapOf(
  engine: Engine,
  source: Iterable<unknown> | AsyncIterable<unknown>,
  options: MapOptions<never> | undefined,
  entry: PublicFunction,
): MapRun<any, any> {
  checkSource(source)
  const { settings, items, callOptions } = readMap(options)
  const terms = engine.inContext(termsOf(callOptions, engine.settings))
  const isPlain = items.itemsPerTask === 1 || needsOwnTasks(engine, settings, items, callOptions, terms)
  if (isPlain) return new MapRun(source, settings, new TaskPerItem(engine, terms, items, entry))
  return new MapRun(source, settings, new MapPacks(engine, terms, settings, items, source, entry))
}

/** True when an option needs a task for each item. Throws `InvalidTaskError` when the caller asks for more items. */
function needsOwnTasks(
  { settings: pool }: Engine,
  { onItemProgress }: MapSettings,
  { itemsPerTask, keyOf, groupOf }: ItemSettings,
  { functions, exclusive, retry, timeout, queueTimeout, deadline }: ReadRunOptions,
  { key, limits, retry: anyRetry }: CallTerms,
): boolean {
  const { queue, groups, loadBalancer } = pool
  const isOwnQueue = queue instanceof FifoQueue || queue instanceof PriorityQueue || groups !== undefined
  const limit = Object.entries({ timeout, queueTimeout, deadline }).find(([, given]) => given !== undefined)
  const reasons: [boolean, string][] = [
    [key !== null || keyOf !== null, "'key'"],
    [groupOf !== null, "a function 'group'"],
    [functions !== undefined, "'functions'"],
    [onItemProgress !== undefined, "'onItemProgress'"],
    [exclusive, "'exclusive'"],
    [anyRetry !== null, retry === undefined ? "'retry' of the pool" : "'retry'"],
    [limits !== null, limit === undefined ? 'a time limit of the pool' : `'${limit[0]}'`],
    [loadBalancer !== undefined, "'loadBalancer' of the pool"],
    [!isOwnQueue, "'queue' of the pool, which is a queue of your own"],
  ]
  const reason = reasons.find(([applies]) => applies)
  if (reason === undefined) return false
  return itemsPerTask === 'auto' || refusePacks(itemsPerTask, reason[1])
}

/** Each item is a task. */
class TaskPerItem implements MapRunner<Task> {
  readonly clock: Clock
  readonly slots: number
  readonly hasQueueLimit: boolean
  readonly #engine: Engine
  readonly #terms: CallTerms
  readonly #items: ItemSettings
  readonly #entry: PublicFunction

  constructor(engine: Engine, terms: CallTerms, items: ItemSettings, entry: PublicFunction) {
    this.clock = engine.clock
    this.slots = engine.slots
    this.hasQueueLimit = Number.isFinite(engine.settings.maxQueue)
    this.#engine = engine
    this.#terms = terms
    this.#items = items
    this.#entry = entry
  }

  room(): Promise<void> {
    return this.#engine.room(null)
  }

  submit(given: SubmittedItem, onProgress: ((value: unknown) => void) | null): Task {
    const { item: payload, index } = given
    let terms = this.#terms
    const { keyOf, groupOf } = this.#items
    if (keyOf !== null) terms = { ...terms, key: textOfItem('key', keyOf, payload, index) }
    if (groupOf !== null) terms = { ...terms, group: textOfItem('group', groupOf, payload, index) }
    if (onProgress !== null) terms = { ...terms, exchange: withProgress(terms.exchange, onProgress) }
    return forCaller(this.#entry, () =>
      this.#engine.submit(callOf(payload, terms), answer => given.settle(answer)),
    )
  }

  cancel(task: Task, error: PoolError): void {
    this.#engine.cancel(task, error)
  }
}
