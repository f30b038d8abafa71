// Random choices for a programme.
export type Random = (below: number) => number

/** Picks a value with a probability in proportion to its weight. */
export function pick<Value extends string>(random: Random, weights: Record<Value, number>): Value {
  let sum = 0
  for (const value in weights) sum += weights[value]
  let left = random(sum)
  for (const value in weights) {
    if (left < weights[value]) return value
    left -= weights[value]
  }
  throw new Error('the sum of the weights is 0')
}

export function oneOf<Value>(random: Random, values: readonly Value[]): Value {
  return values[random(values.length)]!
}
