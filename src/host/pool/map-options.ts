// The options of `pool.map()`.
import { InvalidTaskError } from '../../shared/errors/pool-errors.js'
import { boolean, integer, value } from '../../shared/options/option-rules.js'
import {
  mayHoldOptions,
  OptionErrors,
  OptionTable,
  type RulesFor,
} from '../../shared/options/option-table.js'
import type { CallTerms } from '../task/call.js'
import { type RunOptions, runTable, termsOf } from './call-options.js'
import type { CoreSettings } from './options.js'

/** How far a map is. */
export interface MapProgress {
  /** Items whose task has given a result. */
  done: number
  /** Items whose task has failed. */
  failed: number
  /** The number of items, where the input has a length or a size. */
  total: number | undefined
  /** Items done or failed per second, on average since the start. */
  perSecond: number
  /** The expected time until the end, in milliseconds, where `total` is known. */
  remainingMs: number | undefined
}

/** The input of a map. A promise among the items of a synchronous input is awaited. */
export type MapSource<Item> = Iterable<Item | PromiseLike<Item>> | AsyncIterable<Item>

export interface MapOptions<Item = unknown, Replacement = unknown>
  extends Omit<RunOptions, 'transferList' | 'onProgress'> {
  /**
   * Most items between the input and the consumer: queued, running, or with a result that was not taken yet. An integer of at
   * least 1, or `Infinity`, with which the map reads its whole input at once. Default: 2 for each slot
   * of the pool, and up to 64 while the workers are faster than the host.
   */
  concurrency?: number | undefined
  /** Gives the results in the order of the input. `false`: in the order in which tasks end. Default `true`. */
  ordered?: boolean | undefined
  /**
   * What happens when an item's task fails. `'stop'`, the default: the map ends with that error. `'skip'`: the item has no
   * result. A function: the value that it returns, or that its promise resolves to, is the item's result.
   */
  onError?: 'stop' | 'skip' | ((error: unknown, item: Item, index: number) => Replacement) | undefined
  /** Called at most ten times a second while results come, and once at the end. */
  onProgress?: ((progress: MapProgress) => void) | undefined
  /** Called with each value that a handler passes to `context.progress()`, with its item and the index of the item. */
  onItemProgress?: ((value: any, item: Item, index: number) => void) | undefined
}

export interface MapSettings {
  readonly terms: CallTerms
  readonly signal: AbortSignal | null
  readonly concurrency: number | undefined
  readonly ordered: boolean
  readonly onError: 'stop' | 'skip' | ((error: unknown, item: unknown, index: number) => unknown)
  readonly onProgress: ((progress: MapProgress) => void) | undefined
  readonly onItemProgress: ((value: unknown, item: unknown, index: number) => void) | undefined
}

const { transferList: _, onProgress: __, ...callRules } = runTable.rules

export const mapTable = new OptionTable({
  ...callRules,
  concurrency: integer(
    { min: 1, orInfinity: true },
    {
      default: undefined,
      defaultText: '2 to 64 for each slot',
      description: 'maximum number of items that the map holds',
    },
  ),
  ordered: boolean({ default: true, description: 'gives results in the order of the input' }),
  onError: value<MapSettings['onError']>(
    given => given === 'stop' || given === 'skip' || typeof given === 'function',
    "'stop', 'skip' or a function",
    {
      type: "`'stop'`, `'skip'` or a function",
      default: 'stop',
      description: 'whether the map goes on when a task fails',
    },
  ),
  onProgress: value<MapSettings['onProgress']>(given => typeof given === 'function', 'a function', {
    type: '`(progress) => void`',
    default: undefined,
    description: 'reports the progress of the map',
  }),
  onItemProgress: value<MapSettings['onItemProgress']>(given => typeof given === 'function', 'a function', {
    type: '`(value, item, index) => void`',
    default: undefined,
    description: 'gets the values of `context.progress()`',
  }),
} satisfies RulesFor<MapOptions>)

const mapErrors = new OptionErrors('map()', InvalidTaskError, {
  abortSignal: "Use 'signal'.",
  stopOnError: "Use 'onError', which is 'stop', 'skip' or a function.",
  transferList: "Mark an item with 'move()' to transfer it.",
})

/** Throws `InvalidTaskError`. */
export function resolveMap(given: MapOptions<never> | undefined, settings: CoreSettings): MapSettings {
  if (given !== undefined && !mayHoldOptions(given)) mapErrors.noObject(given, 'concurrency: 16')
  const { concurrency, ordered, onError, onProgress, onItemProgress, signal, ...callOptions } = mapTable.read(
    given ?? {},
    mapErrors,
  )
  const terms = termsOf({ ...callOptions, signal: null, transferList: [], onProgress: undefined }, settings)
  return { terms, signal: signal ?? null, concurrency, ordered, onError, onProgress, onItemProgress }
}

/** Throws `InvalidTaskError`. */
export function checkSource(source: unknown): void {
  const isObject = source !== null && (typeof source === 'object' || typeof source === 'function')
  if (isObject && (Symbol.asyncIterator in source || Symbol.iterator in source)) return
  mapErrors.wrong(
    'source',
    source,
    'an iterable or an async iterable, such as an array, a generator or a stream',
  )
}
