// Keys that become a prototype where somebody copies an object carelessly: `__proto__`, and `constructor` with a
// `prototype` in it. The rules are those of secure-json-parse, which Fastify's own parser follows. A text without such
// keys costs one look; one with them is walked once, without recursion.
import type { Poisoning } from './plan.js'

export interface PoisoningRules {
  readonly onProtoPoisoning: Poisoning
  readonly onConstructorPoisoning: Poisoning
}

const protoKey = keyInText('__proto__')
const constructorKey = keyInText('constructor')

/** Some of what the text says may have such a key. */
export function isSuspect(
  text: string,
  { onProtoPoisoning, onConstructorPoisoning }: PoisoningRules,
): boolean {
  return (
    (onProtoPoisoning !== 'ignore' && protoKey.test(text)) ||
    (onConstructorPoisoning !== 'ignore' && constructorKey.test(text))
  )
}

/**
 * Returns the value, cleaned where a rule says `remove`. Throws a `SyntaxError` where it says `error`.
 * @param met for what a reviver made, which may lead back to what is around it
 */
export function withoutPoison(value: unknown, rules: PoisoningRules, met: Set<object> | null): unknown {
  if (value !== null && typeof value === 'object') clean(value, rules, met)
  return value
}

function clean(
  root: object,
  { onProtoPoisoning, onConstructorPoisoning }: PoisoningRules,
  met: Set<object> | null,
): void {
  const toVisit: object[] = [root]
  for (let node = toVisit.pop(); node !== undefined; node = toVisit.pop()) {
    if (met?.has(node)) continue
    met?.add(node)
    if (onProtoPoisoning !== 'ignore' && Object.hasOwn(node, '__proto__'))
      refuseOrRemove(node, '__proto__', onProtoPoisoning)
    if (onConstructorPoisoning !== 'ignore' && hasPoisonedConstructor(node))
      refuseOrRemove(node, 'constructor', onConstructorPoisoning)
    for (const inner of Object.values(node)) {
      if (inner !== null && typeof inner === 'object') toVisit.push(inner)
    }
  }
}

function hasPoisonedConstructor(node: object): boolean {
  if (!Object.hasOwn(node, 'constructor')) return false
  const inner: unknown = node.constructor
  return inner !== null && typeof inner === 'object' && Object.hasOwn(inner, 'prototype')
}

function refuseOrRemove(node: object, key: string, poisoning: Poisoning): void {
  if (poisoning === 'error') throw new SyntaxError('Object contains forbidden prototype property')
  Reflect.deleteProperty(node, key)
}

/** A key as it may be written in JSON: each letter as itself or as `\u` and its number. */
function keyInText(key: string): RegExp {
  const letters = [...key].map(letter => {
    const number = letter.charCodeAt(0).toString(16)
    const digits = [...number].map(digit => (/\d/.test(digit) ? digit : `[${digit}${digit.toUpperCase()}]`))
    return `(?:${letter}|\\\\u00${digits.join('')})`
  })
  return new RegExp(`"${letters.join('')}"\\s*:`)
}
