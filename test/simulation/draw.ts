// Chance, as a programme is drawn with it.
export type Random = (below: number) => number

/** One of these, each as likely as its weight says. */
export function pick<Value extends string>(random: Random, weights: Record<Value, number>): Value {
  const entries = Object.entries(weights) as [Value, number][]
  let left = random(entries.reduce((sum, [, weight]) => sum + weight, 0))
  for (const [value, weight] of entries) {
    if (left < weight) return value
    left -= weight
  }
  throw new Error('there is nothing to pick')
}

export function oneOf<Value>(random: Random, values: readonly Value[]): Value {
  return values[random(values.length)]!
}
