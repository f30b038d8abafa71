// An object of each class whose objects come and go by the million. When none of a class is alive at a collection, as happens
// to an idle pool, V8 forgets what they look like and throws away all the code that it compiled for them: the next burst of
// tasks would meet cold code. One that stays keeps both.

const kept: object[] = []

/** For tests. */
export const keptShapes: readonly object[] = kept

/** @param sample made as the others of its class are, of values of the same kinds */
export function keepShape(sample: object): void {
  kept[kept.length] = sample
}
