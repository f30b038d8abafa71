// Keeps one object of each class that has an instance per task. When an idle pool has no instance at a garbage collection, V8
// drops the hidden class and all code compiled for it. Then a burst of 3000 tasks takes 1.5 to 3 times as long (Node 22 to 26).

const kept: object[] = []

/** For tests. */
export const keptShapes: readonly object[] = kept

/** @param sample created like the other instances of its class, with values of the same types */
export function keepShape(sample: object): void {
  kept[kept.length] = sample
}
