// Refuses or removes keys that can change a prototype when an object is copied carelessly: `__proto__`, and
// `constructor` with a `prototype` in it. The rules are those of secure-json-parse, which Fastify uses.
// A regular expression searches the text first. Only a text with such keys needs a walk through its value.
import type { Poisoning } from './parse-plan.js'

export interface PoisoningRules {
  readonly onProtoPoisoning: Poisoning
  readonly onConstructorPoisoning: Poisoning
}

const protoKey = keyInText('__proto__')
const constructorKey = keyInText('constructor')

/** True when an object of the text may have such a key. */
export function mayHavePrototypeKeys(
  text: string,
  { onProtoPoisoning, onConstructorPoisoning }: PoisoningRules,
): boolean {
  return (
    (onProtoPoisoning !== 'ignore' && protoKey.test(text)) ||
    (onConstructorPoisoning !== 'ignore' && constructorKey.test(text))
  )
}

/**
 * Removes the keys when the rule is `remove`. Throws a `SyntaxError` when the rule is `error`.
 * @param visited a new set if a reviver made the value, which may then be circular; otherwise null
 */
export function withoutPrototypeKeys(
  value: unknown,
  rules: PoisoningRules,
  visited: Set<object> | null,
): unknown {
  if (value !== null && typeof value === 'object') clean(value, rules, visited)
  return value
}

function clean(
  root: object,
  { onProtoPoisoning, onConstructorPoisoning }: PoisoningRules,
  visited: Set<object> | null,
): void {
  const toVisit: object[] = [root]
  for (let node = toVisit.pop(); node !== undefined; node = toVisit.pop()) {
    if (visited?.has(node)) continue
    visited?.add(node)
    if (onProtoPoisoning !== 'ignore' && Object.hasOwn(node, '__proto__'))
      refuseOrRemove(node, '__proto__', onProtoPoisoning)
    if (onConstructorPoisoning !== 'ignore' && hasPrototypeInConstructor(node))
      refuseOrRemove(node, 'constructor', onConstructorPoisoning)
    for (const inner of Object.values(node)) {
      if (inner !== null && typeof inner === 'object') toVisit.push(inner)
    }
  }
}

function hasPrototypeInConstructor(node: object): boolean {
  if (!Object.hasOwn(node, 'constructor')) return false
  const inner: unknown = node.constructor
  return inner !== null && typeof inner === 'object' && Object.hasOwn(inner, 'prototype')
}

function refuseOrRemove(node: object, key: string, poisoning: Poisoning): void {
  if (poisoning === 'error') throw new SyntaxError('Object contains forbidden prototype property')
  Reflect.deleteProperty(node, key)
}

/** Matches a key in JSON text. Each letter may be a `\u` escape. */
function keyInText(key: string): RegExp {
  const letters = [...key].map(letter => {
    const number = letter.charCodeAt(0).toString(16)
    const digits = [...number].map(digit => (/\d/.test(digit) ? digit : `[${digit}${digit.toUpperCase()}]`))
    return `(?:${letter}|\\\\u00${digits.join('')})`
  })
  return new RegExp(`"${letters.join('')}"\\s*:`)
}
