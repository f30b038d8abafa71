// An error flattened to cross to the other thread, and revived there as what it was. Structured clone alone loses the
// class, `code` and own fields, and refuses an error that holds a function; this never refuses.

/** What a handler threw, in plain data. Only `pack` makes one and only `unpack` reads one. */
export type PackedThrown = PackedError | { kind: 'value'; value: unknown } | { kind: 'text'; text: string }

interface PackedError {
  kind: 'error'
  className: string
  name: string
  message: string
  stack: string
  isDomException: boolean
  fields: [string, PackedThrown][]
  hidden: [string, PackedThrown][]
}

/** How many more errors may be packed, and those that are being packed: what leads back to one of them becomes text. */
type Budget = { errors: number; above: Set<unknown> }

const DEEPEST_CAUSE = 8
/** Errors that point to each other are a graph: so many of its nodes are packed, the others become text. */
const MOST_ERRORS = 1000
const PACKED_BY_NAME = new Set(['name', 'message', 'stack'])
const HIDDEN_FIELDS = ['cause', 'errors'] as const

const builtinErrors: Record<string, new (message: string) => Error> = {
  __proto__: null as never,
  Error,
  EvalError,
  RangeError,
  ReferenceError,
  SyntaxError,
  TypeError,
  URIError,
}

export function pack(
  thrown: unknown,
  depth = 0,
  budget: Budget = { errors: MOST_ERRORS, above: new Set() },
): PackedThrown {
  try {
    if (isErrorLike(thrown)) return packError(thrown, depth, budget)
    return packValue(thrown)
  } catch (failure) {
    return { kind: 'text', text: `(an error that could not be read: ${plainText(failure)})` }
  }
}

function packError(error: Error, depth: number, budget: Budget): PackedThrown {
  if (depth > DEEPEST_CAUSE || budget.above.has(error) || budget.errors-- <= 0)
    return { kind: 'text', text: `${error.name}: ${error.message}` }
  budget.above.add(error)
  const fields: [string, PackedThrown][] = []
  for (const key of Object.keys(error)) {
    if (!PACKED_BY_NAME.has(key)) fields.push([key, packField(error, key, depth, budget)])
  }
  const hidden: [string, PackedThrown][] = []
  for (const key of HIDDEN_FIELDS) {
    if (Object.hasOwn(error, key) && !Object.keys(error).includes(key))
      hidden.push([key, packField(error, key, depth, budget)])
  }
  budget.above.delete(error)
  return {
    kind: 'error',
    className: packText(() => builtinAncestor(error)),
    name: packText(() => error.name),
    message: packText(() => error.message),
    stack: packText(() => error.stack),
    isDomException: error instanceof DOMException,
    fields,
    hidden,
  }
}

/** A field that cannot be read costs that field, not the error. */
function packField(error: Error, key: string, depth: number, budget: Budget): PackedThrown {
  try {
    const value = (error as unknown as Record<string, unknown>)[key]
    if (key === 'errors' && Array.isArray(value)) {
      return { kind: 'value', value: value.map(inner => pack(inner, depth + 1, budget)) }
    }
    return pack(value, depth + 1, budget)
  } catch (failure) {
    return { kind: 'text', text: `(could not be read: ${plainText(failure)})` }
  }
}

/** The text of a member that every error has, whatever was made of it. */
function packText(read: () => unknown): string {
  try {
    return String(read())
  } catch (failure) {
    return `(could not be read: ${plainText(failure)})`
  }
}

function packValue(value: unknown): PackedThrown {
  if (typeof value === 'function' || typeof value === 'symbol')
    return { kind: 'text', text: plainText(value) }
  if (value === null || typeof value !== 'object') return { kind: 'value', value }
  try {
    structuredClone(value)
    return { kind: 'value', value }
  } catch (failure) {
    return { kind: 'text', text: `${plainText(value)} (could not be sent: ${plainText(failure)})` }
  }
}

export function unpack(packed: PackedThrown): unknown {
  if (packed.kind === 'value') return packed.value
  if (packed.kind === 'text') return packed.text
  const error = create(packed)
  defineHidden(error, 'stack', packed.stack)
  if (!packed.isDomException && error.name !== packed.name) defineHidden(error, 'name', packed.name)
  for (const [key, value] of packed.fields) {
    Object.defineProperty(error, key, {
      value: revive(key, value),
      enumerable: true,
      configurable: true,
      writable: true,
    })
  }
  for (const [key, value] of packed.hidden) defineHidden(error, key, revive(key, value))
  return error
}

/** The name of the nearest class of the error that the other side has too. */
function builtinAncestor(error: object): string {
  for (let parent = Object.getPrototypeOf(error); parent !== null; parent = Object.getPrototypeOf(parent)) {
    const name: unknown = Object.hasOwn(parent, 'constructor') ? parent.constructor?.name : undefined
    if (typeof name === 'string' && (Object.hasOwn(builtinErrors, name) || name === 'AggregateError'))
      return name
  }
  return 'Error'
}

function create(packed: PackedError): Error {
  if (packed.isDomException) return new DOMException(packed.message, packed.name)
  if (packed.className === 'AggregateError') return new AggregateError([], packed.message)
  const Builtin = builtinErrors[packed.className] ?? builtinErrors[packed.name] ?? Error
  return new Builtin(packed.message)
}

function revive(key: string, packed: PackedThrown): unknown {
  if (key === 'errors' && packed.kind === 'value' && Array.isArray(packed.value)) {
    return packed.value.map(inner => unpack(inner as PackedThrown))
  }
  return unpack(packed)
}

function defineHidden(target: object, key: string, value: unknown): void {
  Object.defineProperty(target, key, { value, enumerable: false, configurable: true, writable: true })
}

/** An error of any realm: `vm` contexts have their own classes. */
function isErrorLike(value: unknown): value is Error {
  return value instanceof Error || Object.prototype.toString.call(value) === '[object Error]'
}

function plainText(value: unknown): string {
  try {
    return String(value)
  } catch {
    return Object.prototype.toString.call(value)
  }
}
