// The options of `pool.map()`.
import type { MapOptions, MapProgress } from '../../api/call-options.js'
import { InvalidTaskError } from '../../shared/errors/pool-errors.js'
import { boolean, integer, value } from '../../shared/options/option-rules.js'
import {
  describe,
  mayHoldOptions,
  OptionErrors,
  OptionTable,
  type RulesFor,
} from '../../shared/options/option-table.js'
import { type ReadRunOptions, runTable } from './call-options.js'

/** What a map needs of its options. */
export interface MapSettings {
  /** Ends the map. */
  readonly signal: AbortSignal | null
  /** The option `concurrency`. */
  readonly concurrency: number | undefined
  /** The option `ordered`. */
  readonly ordered: boolean
  /** The option `onError`. */
  readonly onError: 'stop' | 'skip' | ((error: unknown, item: unknown, index: number) => unknown)
  /** The option `onProgress`. */
  readonly onProgress: ((progress: MapProgress) => void) | undefined
  /** The option `onItemProgress`. */
  readonly onItemProgress: ((value: unknown, item: unknown, index: number) => void) | undefined
}

/** What decides about the tasks of a map's items. */
export interface ItemSettings {
  readonly itemsPerTask: 'auto' | number
  /** `null`: the items have no key or group, or all the same. */
  readonly keyOf: ((item: unknown, index: number) => unknown) | null
  readonly groupOf: ((item: unknown, index: number) => unknown) | null
}

const { transferList: _, onProgress: __, ...callRules } = runTable.rules

type TextOrFunction = string | ((item: any, index: number) => string) | undefined

function textOrFunction() {
  return value<TextOrFunction>(
    given => typeof given === 'function' || isText(given),
    'a string that is not empty, or a function that returns one',
    { default: undefined },
  )
}

function isText(given: unknown): given is string {
  return typeof given === 'string' && given !== ''
}

export const mapTable = new OptionTable({
  ...callRules,
  key: textOrFunction(),
  group: textOrFunction(),
  itemsPerTask: value<'auto' | number>(
    given => given === 'auto' || (Number.isSafeInteger(given) && (given as number) >= 1),
    "'auto' or an integer of at least 1",
    { default: 'auto' },
  ),
  concurrency: integer(
    { min: 1, orInfinity: true },
    {
      default: undefined,
    },
  ),
  ordered: boolean({ default: true }),
  onError: value<MapSettings['onError']>(
    given => given === 'stop' || given === 'skip' || typeof given === 'function',
    "'stop', 'skip' or a function",
    {
      default: 'stop',
    },
  ),
  onProgress: value<MapSettings['onProgress']>(given => typeof given === 'function', 'a function', {
    default: undefined,
  }),
  onItemProgress: value<MapSettings['onItemProgress']>(given => typeof given === 'function', 'a function', {
    default: undefined,
  }),
} satisfies RulesFor<MapOptions>)

const mapErrors = new OptionErrors('map()', InvalidTaskError, {
  abortSignal: "Use 'signal'.",
  stopOnError: "Use 'onError', which is 'stop', 'skip' or a function.",
  transferList: "Mark an item with 'move()' to transfer it.",
  itemsPerJob: "Use 'itemsPerTask'.",
  batchSize: "Use 'itemsPerTask'.",
  chunkSize: "Use 'itemsPerTask'.",
})

/** The options of a map, and the options of the calls of its items. Throws `InvalidTaskError`. */
export function readMap(given: MapOptions<never> | undefined): {
  settings: MapSettings
  items: ItemSettings
  callOptions: ReadRunOptions
} {
  if (given !== undefined && !mayHoldOptions(given)) mapErrors.noObject(given, 'concurrency: 16')
  const { concurrency, ordered, onError, onProgress, onItemProgress, signal, itemsPerTask, ...read } =
    mapTable.read(given ?? {}, mapErrors)
  if (itemsPerTask !== 'auto' && concurrency !== undefined && concurrency < itemsPerTask)
    throw new InvalidTaskError(
      'itemsPerTask',
      `The option 'itemsPerTask' (${itemsPerTask}) is above 'concurrency' (${concurrency}), so the map never holds enough items for a task. Lower itemsPerTask, or raise concurrency.`,
    )
  const { key, group, keyOrder, ...others } = read
  const isKeyed = typeof key === 'function'
  const isGrouped = typeof group === 'function'
  const callOptions = {
    ...others,
    // The check of the terms needs a key beside `keyOrder`. Each item gets its own later.
    key: isKeyed ? BY_FUNCTION : key,
    keyOrder,
    group: isGrouped ? BY_FUNCTION : group,
    signal: null,
    transferList: [],
    onProgress: undefined,
  }
  return {
    settings: { signal: signal ?? null, concurrency, ordered, onError, onProgress, onItemProgress },
    items: { itemsPerTask, keyOf: isKeyed ? key : null, groupOf: isGrouped ? group : null },
    callOptions,
  }
}

const BY_FUNCTION = 'a function'

/** The key or the group of an item. Throws `InvalidTaskError`, and what the function throws. */
export function textOfItem(
  option: 'key' | 'group',
  textOf: (item: unknown, index: number) => unknown,
  item: unknown,
  index: number,
): string {
  const text = textOf(item, index)
  if (isText(text)) return text
  throw new InvalidTaskError(
    option,
    `The function '${option}' of map() must return a string that is not empty; for the item with index ${index} it returned ${describe(text)}.`,
  )
}

/** Throws `InvalidTaskError`: the other option needs a task for each item. */
export function refusePacks(itemsPerTask: number, other: string): never {
  throw new InvalidTaskError(
    'itemsPerTask',
    `The option 'itemsPerTask' (${itemsPerTask}) cannot be combined with ${other}, which needs a task for each item. Set itemsPerTask to 1 or 'auto', or leave out the other option.`,
  )
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
