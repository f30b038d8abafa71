// The options of `pool.map()`.
import type { MapOptions, MapProgress } from '../../api/call-options.js'
import { InvalidTaskError } from '../../shared/errors/pool-errors.js'
import { boolean, integer, value } from '../../shared/options/option-rules.js'
import {
  mayHoldOptions,
  OptionErrors,
  OptionTable,
  type RulesFor,
} from '../../shared/options/option-table.js'
import { type ReadRunOptions, runTable } from './call-options.js'

/** What a map needs of its options. */
export interface MapSettings {
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
})

/** The options of a map, and the options of the calls of its items. Throws `InvalidTaskError`. */
export function readMap(given: MapOptions<never> | undefined): {
  settings: MapSettings
  callOptions: ReadRunOptions
} {
  if (given !== undefined && !mayHoldOptions(given)) mapErrors.noObject(given, 'concurrency: 16')
  const { concurrency, ordered, onError, onProgress, onItemProgress, signal, ...others } = mapTable.read(
    given ?? {},
    mapErrors,
  )
  return {
    settings: { signal: signal ?? null, concurrency, ordered, onError, onProgress, onItemProgress },
    callOptions: { ...others, signal: null, transferList: [], onProgress: undefined },
  }
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
