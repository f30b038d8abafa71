// `pool.call()`: one task that runs a function of the program. The function travels as text, after its arguments, so that the pool keeps
// nothing for each function.
import { InvalidTaskError, PoolClosedError, type PublicFunction } from '../../shared/errors/pool-errors.js'
import { adviceForVariable, FUNCTION_TEXT, functionHelpers } from '../../shared/messages/function-text.js'
import type { HandlerRef } from '../../shared/messages/handler-ref.js'
import { describe, mayHoldOptions } from '../../shared/options/option-table.js'
import { getBuiltinModule } from '../../shared/platform/node-modules.js'
import type { Engine } from '../engine/engine.js'
import type { CallTerms } from '../task/call.js'
import { ApiPromise, streaming } from './api.js'
import { resolveFunctionOptions } from './call-options.js'
import { termsOf } from './call-terms.js'
import { readFunction } from './function-text.js'
import { promiseOf, rejectCall } from './run.js'

type AnyFunction = (...args: never[]) => unknown

const UNNAMED = '(function)'
/** Functions with further names count as unnamed. */
const MAX_NAMES = 100
const MAX_TEXTS = 500

/** The texts of functions that may be sent. */
const texts = new WeakMap<AnyFunction, string>()
const checkedTexts = new Set<string>()
const textOf = Function.prototype.toString

export class FunctionCalls {
  readonly #engine: Engine
  /** The terms of calls without options, by the names of functions. */
  readonly #plainTerms = new Map<string, CallTerms>()

  constructor(engine: Engine) {
    this.#engine = engine
  }

  /** @param given the function and its arguments; before them perhaps the options */
  call(given: readonly unknown[], entry: PublicFunction): Promise<unknown> {
    const engine = this.#engine
    if (engine.state !== 'open') return rejectCall(new PoolClosedError('closed'), entry)
    try {
      const [first] = given
      const options = mayHoldOptions(first) ? first : undefined
      const at = options !== undefined || (first === undefined && given.length > 1) ? 1 : 0
      const fn = given[at]
      const text = typeof fn === 'function' ? checkedText(fn as AnyFunction) : noFunction(fn)
      const plain = this.#plainTermsOf(fn as AnyFunction)
      const terms = options === undefined ? plain : this.#terms(options, plain.handler)
      return promiseOf(engine, { payload: [...given.slice(at + 1), text], terms }, entry, ApiPromise)
    } catch (problem) {
      return rejectCall(problem, entry)
    }
  }

  #plainTermsOf(fn: AnyFunction): CallTerms {
    const given = String(fn.name)
    const isKept = this.#plainTerms.size < MAX_NAMES || this.#plainTerms.has(given)
    const name = isKept && /^[^\s()]{1,60}$/.test(given) ? given : UNNAMED
    const known = this.#plainTerms.get(name)
    if (known !== undefined) return known
    const terms = this.#terms({}, { filename: FUNCTION_TEXT, name, call: 'arguments' })
    this.#plainTerms.set(name, terms)
    return terms
  }

  #terms(options: object, handler: HandlerRef): CallTerms {
    return streaming(termsOf(resolveFunctionOptions(options), this.#engine.settings, handler))
  }
}

/** Throws `InvalidTaskError`. */
function checkedText(fn: AnyFunction): string {
  const known = texts.get(fn)
  if (known !== undefined) return known
  const text = textOf.call(fn)
  if (!checkedTexts.has(text)) {
    const problem = problemOf(fn, text)
    if (problem !== null)
      throw new InvalidTaskError('fn', `The function cannot be sent to a worker: ${problem}`)
    if (checkedTexts.size >= MAX_TEXTS) checkedTexts.clear()
    checkedTexts.add(text)
  }
  texts.set(fn, text)
  return text
}

function noFunction(given: unknown): never {
  throw new InvalidTaskError(
    'fn',
    `call() must get a function, perhaps after an object with options; got ${describe(given)}. To call a function of the handler's file, use pool.api.`,
  )
}

/** Why the function cannot be sent, and what to do. `null`: it can be sent. */
function problemOf(fn: AnyFunction, text: string): string | null {
  if (/\{\s*\[native code\]\s*\}$/.test(text))
    return 'it is a bound or native function, which has no text. Write a function that calls it: (a, b) => Math.max(a, b).'
  const read = readFunction(text)
  if (read === null) return null
  if (read.kind === 'class') return 'it is a class. Write a function that creates the object in the worker.'
  if (read.kind === 'method') return 'it is a method or an accessor. Write it as a function: (a, b) => a + b.'
  const free = read.free.find(
    name => !(name in globalThis || functionHelpers.has(name) || name in mainGlobals()),
  )
  if (free === undefined) return null
  const advice =
    free === fn.name
      ? `Write function ${free}() { … }, which can call itself by its name.`
      : (advices.find(([names]) => names.test(free))?.[1] ?? adviceForVariable(free))
  return `it uses '${free}', which belongs to the code around it. ${advice}`
}

/** The environment `jsdom` of Jest lacks some globals that workers have. */
function mainGlobals(): object {
  return getBuiltinModule('node:vm').runInThisContext('globalThis')
}

/** For names that tools add, and for what is no variable. */
const advices: readonly (readonly [names: RegExp, advice: string])[] = [
  [
    /^cov_/,
    'The coverage tool Istanbul added it. Write /* istanbul ignore next */ before the function, or measure the coverage with V8.',
  ],
  [
    /^__vi_/,
    "Vitest made it from an import at the top of the file. Import in the function: await import('node:fs').",
  ],
  [
    /^(require|module|exports|__webpack_require__|__importStar|__importDefault|__toESM|_interop.*)$/,
    "Use await import('node:fs') or process.getBuiltinModule('node:fs') in the function. If a compiler changed import() to require(), let it make ES modules.",
  ],
  [/^(__filename|__dirname|import\.meta)$/, 'Pass the path or the URL as an argument.'],
  [/^import\(/, "Pass new URL('./file.js', import.meta.url).href as an argument, and import it."],
  [/^(this|super|arguments|new\.target)$/, 'Pass the values as arguments.'],
  [
    /^_{1,2}(ts_)?(async|await|generator|regenerator|values|read|rest|spread|assign|object|obj|extends|class|private|public|define|inherits|create|call_?super|sliced|to_?(array|consumable))/i,
    'A compiler added it for an older version of JavaScript. Raise the target of the compiler to es2022.',
  ],
]
