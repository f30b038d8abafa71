// The tables of the options of `run()`, `with()`, `room()` and `close()`, and their checks.
import type {
  CallOptions,
  CloseOptions,
  FunctionOptions,
  RoomOptions,
  RunOptions,
  TransferItem,
} from '../../api/call-options.js'
import { InvalidTaskError } from '../../shared/errors/pool-errors.js'
import { boolean, milliseconds, text, unchecked, value } from '../../shared/options/option-rules.js'
import {
  mayHoldOptions,
  OptionErrors,
  type OptionRule,
  OptionTable,
  type Resolved,
  type RulesFor,
} from '../../shared/options/option-table.js'
import { types } from '../../shared/platform/node-modules.js'
import { retryRule } from '../options/table.js'

const { isDate } = types
export const NOTHING: readonly TransferItem[] = Object.freeze([])

function isSignal(given: unknown): boolean {
  if (given === null) return true
  const signal = given as AbortSignal
  return (
    typeof signal === 'object' &&
    typeof signal.addEventListener === 'function' &&
    typeof signal.removeEventListener === 'function' &&
    'aborted' in signal
  )
}

function isRecordOfFunctions(given: unknown): boolean {
  if (given === null || typeof given !== 'object') return false
  return Object.values(given).every(member => typeof member === 'function')
}

export const signalRule: OptionRule<AbortSignal | null | undefined> = value(isSignal, 'an AbortSignal', {
  default: undefined,
})

export const runTable = new OptionTable({
  name: value<string | null | undefined>(
    given => given === null || (typeof given === 'string' && given !== ''),
    'a string that is not empty',
    {
      default: undefined,
    },
  ),
  filename: unchecked<string | URL | undefined>({
    default: undefined,
  }),
  signal: signalRule,
  timeout: milliseconds(false, {
    default: undefined,
  }),
  queueTimeout: milliseconds(true, {
    default: undefined,
  }),
  deadline: value<Date | number | undefined>(
    given => !Number.isNaN(isDate(given) ? given.getTime() : typeof given === 'number' ? given : Number.NaN),
    'a valid Date, or milliseconds of the epoch',
    { default: undefined },
  ),
  inherit: boolean({ default: false }),
  exclusive: boolean({ default: false }),
  transferList: value<readonly TransferItem[]>(Array.isArray, 'an array', {
    default: NOTHING,
  }),
  priority: value<number>(given => typeof given === 'number' && !Number.isNaN(given), 'a number', {
    default: 0,
  }),
  key: text({ default: undefined }),
  keyOrder: value<'serial' | 'none' | undefined>(
    given => given === 'serial' || given === 'none',
    "'serial' or 'none'",
    { default: undefined },
  ),
  group: text({ default: undefined }),
  queueOptions: unchecked<unknown>({
    default: undefined,
  }),
  retry: retryRule,
  onProgress: value<((value: unknown) => void) | undefined>(
    given => typeof given === 'function',
    'a function',
    {
      default: undefined,
    },
  ),
  functions: value<RunOptions['functions']>(isRecordOfFunctions, 'an object whose values are functions', {
    default: undefined,
  }),
} satisfies RulesFor<RunOptions>)

export type ReadRunOptions = Resolved<(typeof runTable)['rules']>

const { name: _name, transferList: _transferList, ...withRules } = runTable.rules
const withTable = new OptionTable(withRules satisfies RulesFor<CallOptions>)

const { name: _otherName, filename: _filename, ...functionRules } = runTable.rules
const functionTable = new OptionTable(functionRules satisfies RulesFor<FunctionOptions>)
const functionErrors = new OptionErrors('call()', InvalidTaskError, {
  abortSignal: "Use 'signal'.",
  filename: "To call a function of a file, use 'run()'.",
  name: "To call a function of a file, use 'run()'.",
  transfer: "Use 'transferList'.",
})

const roomTable = new OptionTable({
  signal: signalRule,
} satisfies RulesFor<RoomOptions>)

const closeTable = new OptionTable({
  force: boolean({ default: false }),
} satisfies RulesFor<CloseOptions>)

const withErrors = new OptionErrors('with()', InvalidTaskError, {
  abortSignal: "Use 'signal'.",
  name: "Call the function by its name, as in 'pool.with(options).api.resize()'.",
  transferList: "Mark an argument with 'move()' to transfer it.",
})
const roomErrors = new OptionErrors('room()', InvalidTaskError)
const closeErrors = new OptionErrors('close()', InvalidTaskError)

/** The options of all calls of one function by `pool.with()`. Throws `InvalidTaskError`. */
export function resolveWith(given: CallOptions | undefined): ReadRunOptions {
  if (given !== undefined && !mayHoldOptions(given)) withErrors.noObject(given, 'signal')
  return { ...withTable.read(given ?? {}, withErrors), name: undefined, transferList: NOTHING }
}

/** The options of `call()`. Throws `InvalidTaskError`. */
export function resolveFunctionOptions(given: object): ReadRunOptions {
  return { ...functionTable.read(given, functionErrors), name: undefined, filename: undefined }
}

/** Throws `InvalidTaskError`. */
export function resolveRoom(given: unknown): AbortSignal | null {
  if (given === undefined) return null
  if (!mayHoldOptions(given)) return roomErrors.noObject(given, 'signal')
  return roomTable.read(given, roomErrors).signal ?? null
}

/** Throws `InvalidTaskError`. */
export function resolveClose(given: unknown): Resolved<(typeof closeTable)['rules']> {
  if (!mayHoldOptions(given)) return closeErrors.noObject(given, 'force')
  return closeTable.read(given, closeErrors)
}
