// Loads the user's functions for bodies from the user's module, by name. Converts their issues to plain data.
import type { FunctionNames } from './parse-plan.js'
import type { Reviver } from './parse-text.js'

export interface BodyFunctions {
  readonly reviver: Reviver | null
  /** Resolves to the issues, or to `null` issues and the validated value. */
  readonly validate: ((value: unknown) => Promise<Validated>) | null
  readonly select: ((value: unknown) => unknown) | null
}

export interface Validated {
  readonly issues: unknown
  readonly value: unknown
}

type Check = ((value: unknown) => unknown) & { errors?: unknown }

/** The common interface of schema libraries: https://standardschema.dev */
interface StandardSchema {
  readonly '~standard': { validate(value: unknown): unknown }
}

/** Deeper parts of issues are omitted, because issues may contain the input, which may nest deeply. */
const DEEPEST = 100

/** Rejects with the error of the module, or with a `TypeError` when an export is missing. */
export async function loadFunctions(names: FunctionNames): Promise<BodyFunctions> {
  const namespace: object = await import(names.module)
  return {
    reviver: names.reviver === null ? null : (functionOf(namespace, names.reviver, names.module) as Reviver),
    validate: names.validate === null ? null : validatorOf(namespace, names.validate, names.module),
    select: names.select === null ? null : functionOf(namespace, names.select, names.module),
  }
}

function validatorOf(namespace: object, name: string, module: string): BodyFunctions['validate'] {
  const found = memberOf(namespace, name)
  if (isStandardSchema(found)) {
    return async value => {
      const result = (await found['~standard'].validate(value)) as { issues?: unknown; value?: unknown }
      return { issues: result.issues ?? null, value: result.value }
    }
  }
  const check: Check = functionOf(namespace, name, module)
  return async value => {
    const answer = check(value)
    // Compiled schemas return `false` and replace the function's `errors` in the next call, so read them before
    // `await`.
    if (answer === false) return { issues: check.errors ?? [], value }
    const verdict = await answer
    if (verdict === undefined || verdict === null || verdict === true) return { issues: null, value }
    return { issues: verdict === false ? (check.errors ?? []) : verdict, value }
  }
}

function functionOf(namespace: object, name: string, module: string): (value: unknown) => unknown {
  const found = memberOf(namespace, name)
  if (typeof found === 'function') return found as (value: unknown) => unknown
  throw new TypeError(
    `No function named '${name}' is exported from ${module}. Export one, or change the option.`,
  )
}

/** Looks at own properties of the module, then of its default export. */
function memberOf(namespace: object, name: string): unknown {
  if (Object.hasOwn(namespace, name)) return (namespace as Record<string, unknown>)[name]
  const inner: unknown = (namespace as { default?: unknown }).default
  if (inner === null || (typeof inner !== 'object' && typeof inner !== 'function')) return undefined
  return Object.hasOwn(inner, name) ? (inner as Record<string, unknown>)[name] : undefined
}

function isStandardSchema(found: unknown): found is StandardSchema {
  if (found === null || (typeof found !== 'object' && typeof found !== 'function')) return false
  const { '~standard': standard } = found as Partial<StandardSchema>
  return typeof standard?.validate === 'function'
}

/**
 * Copies issues as `JSON.stringify()` would, because libraries use functions, classes and getters in them. An object
 * that occurs twice is copied once, because each issue may contain the input. Circular references are omitted.
 */
export function plainIssues(value: any, copies = new Map<object, unknown>(), depth = 0): unknown {
  if (typeof value === 'function' || typeof value === 'symbol') return undefined
  if (value === null || typeof value !== 'object') return value
  if (copies.has(value) || depth === DEEPEST) return copies.get(value)
  copies.set(value, undefined)
  const plain = (part: unknown) => plainIssues(part, copies, depth + 1)
  const { toJSON, message, path, code } = value
  const said = typeof toJSON === 'function' ? value.toJSON() : value
  let copy: unknown
  if (Array.isArray(said)) copy = Array.from(said, plain)
  else if (typeof said !== 'object') copy = plain(said)
  else {
    const members = Object.entries({ message, path, code, ...said }).map(([key, part]) => [key, plain(part)])
    copy = Object.fromEntries(members.filter(([, part]) => part !== undefined))
  }
  copies.set(value, copy)
  return copy
}
