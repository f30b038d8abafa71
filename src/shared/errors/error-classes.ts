// The classes that an error may have on both sides, by name: those of the language and the platform, and on the host the
// user's own. An error is made as one of them without running any constructor of the user's.

export type ErrorClass = abstract new (...args: never[]) => Error

const builtins = new Map<string, ErrorClass>(
  [
    Error,
    EvalError,
    RangeError,
    ReferenceError,
    SyntaxError,
    TypeError,
    URIError,
    AggregateError,
    DOMException,
  ].map(builtin => [builtin.name, builtin as ErrorClass]),
)
const { SuppressedError } = globalThis as { SuppressedError?: ErrorClass }
if (SuppressedError !== undefined) builtins.set('SuppressedError', SuppressedError)

const MOST_ANCESTORS = 32

/** The names of an error's class and its ancestors, nearest first, up to one that every side has. */
export function classNames(error: object): string[] {
  const names: string[] = []
  for (const parent of ancestorsOf(error)) {
    const name = ownClassName(parent)
    if (name !== undefined && name !== names.at(-1)) names.push(name)
    if (name !== undefined && builtins.has(name)) return names
  }
  return [...names, 'Error']
}

/** Nearest first, and not for ever: of a proxy there may be no last one. */
export function* ancestorsOf(value: object): Generator<object> {
  let parent: object | null = Object.getPrototypeOf(value)
  for (let steps = 0; parent !== null && steps < MOST_ANCESTORS; steps++) {
    yield parent
    parent = Object.getPrototypeOf(parent)
  }
}

/** What a prototype says it is the prototype of; with `--frozen-intrinsics` Node's getter for it says so. */
export function ownClassName(prototype: object): string | undefined {
  const { value, get } = Object.getOwnPropertyDescriptor(prototype, 'constructor') ?? {}
  const made: unknown = value ?? (get as { value?: unknown } | undefined)?.value
  const name: unknown = typeof made === 'function' ? made.name : undefined
  return typeof name === 'string' && name !== '' ? name : undefined
}

export class ErrorClasses {
  readonly #own: ReadonlyMap<string, ErrorClass>

  constructor(own: Iterable<ErrorClass> = []) {
    this.#own = new Map([...own].map(errorClass => [errorClass.name, errorClass]))
  }

  /** An error of the first class that is known here; no constructor but the builtin's runs. */
  create(names: readonly string[], name: string, message: string): Error {
    const known = names.find(candidate => this.#own.has(candidate) || builtins.has(candidate)) ?? 'Error'
    const target = this.#own.get(known) ?? builtins.get(known)!
    const base = builtinBaseOf(target)
    return Reflect.construct(base, argumentsOf(base, name, message), target)
  }
}

/** Why a class cannot be one of the user's own; `null` when it can. */
export function problemWithClass(given: unknown): string | null {
  if (typeof given !== 'function' || !(given.prototype instanceof Error))
    return 'is no class that extends Error'
  if (given.name === '') return 'has no name'
  return builtins.has(given.name) ? `has the name of a class that is known already, '${given.name}'` : null
}

function builtinBaseOf(errorClass: ErrorClass): ErrorClass {
  for (let base: unknown = errorClass.prototype; base !== null; base = Object.getPrototypeOf(base)) {
    for (const builtin of builtins.values()) if (builtin.prototype === base) return builtin
  }
  return Error
}

function argumentsOf(base: ErrorClass, name: string, message: string): never[] {
  const given: unknown[] =
    base === DOMException
      ? [message, name]
      : base === AggregateError
        ? [[], message]
        : base === SuppressedError
          ? [undefined, undefined, message]
          : [message]
  return given as never[]
}
