// Finds the place in a value that structured clone refuses, for a message that names it.
import { types } from 'node:util'

const DEEPEST = 200
const MOST_VISITED = 10_000

/** A message that a channel refused to carry: `path` says what of it, from its outermost member on. */
export class UnsendableError extends Error {
  readonly path: string

  constructor(path: string, cause: unknown) {
    super(cause instanceof Error ? cause.message : String(cause), { cause })
    this.name = 'DataCloneError'
    this.path = path
  }
}

/** Where a channel says itself what it refused, that; else what structured clone would refuse. */
export function pathOfRefused(failure: unknown, value: unknown, root: string): string {
  return failure instanceof UnsendableError ? failure.path : findUncloneable(value, root)
}

/** The path of the first member that cannot be cloned, starting with `root`; `root` itself when none is found. */
export function findUncloneable(value: unknown, root: string): string {
  return find(value, root, isUncloneable)
}

/** The path of this very member. */
export function findMember(value: unknown, wanted: object, root: string): string {
  return find(
    value,
    root,
    member => member === wanted || (ArrayBuffer.isView(member) && member.buffer === wanted),
  )
}

function isUncloneable(member: unknown): boolean {
  if (typeof member === 'function' || typeof member === 'symbol') return true
  return (
    types.isPromise(member) || types.isProxy(member) || types.isWeakMap(member) || types.isWeakSet(member)
  )
}

function find(value: unknown, root: string, isWanted: (member: unknown) => boolean): string {
  const seen = new Set<object>()

  function visit(member: unknown, path: string, depth: number): string | undefined {
    if (isWanted(member)) return path
    if (member === null || typeof member !== 'object') return undefined
    if (seen.has(member) || depth > DEEPEST || seen.size > MOST_VISITED) return undefined
    seen.add(member)
    for (const [key, child] of membersOf(member)) {
      const found = visit(child, path + key, depth + 1)
      if (found !== undefined) return found
    }
    return undefined
  }

  try {
    return visit(value, root, 0) ?? root
  } catch {
    return root
  }
}

function* membersOf(container: object): Generator<[string, unknown]> {
  if (types.isMap(container)) {
    for (const [key, child] of container) {
      yield ['.key', key]
      yield [`.get(${typeof key === 'string' ? JSON.stringify(key) : String(key)})`, child]
    }
    return
  }
  if (types.isSet(container)) {
    for (const child of container) yield ['.member', child]
    return
  }
  if (ArrayBuffer.isView(container) || types.isAnyArrayBuffer(container)) return
  const isArray = Array.isArray(container)
  for (const key of Object.keys(container)) {
    const step = isArray
      ? `[${key}]`
      : /^[A-Za-z_$][\w$]*$/.test(key)
        ? `.${key}`
        : `[${JSON.stringify(key)}]`
    yield [step, (container as Record<string, unknown>)[key]]
  }
}
