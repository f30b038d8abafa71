// Chance, as a programme is drawn with it.
export type Random = (below: number) => number

/** One of these, each as likely as its weight says. */
export function pick<Value extends string>(random: Random, weights: Record<Value, number>): Value {
  let sum = 0
  for (const value in weights) sum += weights[value]
  let left = random(sum)
  for (const value in weights) {
    if (left < weights[value]) return value
    left -= weights[value]
  }
  throw new Error('there is nothing to pick')
}

export function oneOf<Value>(random: Random, values: readonly Value[]): Value {
  return values[random(values.length)]!
}
