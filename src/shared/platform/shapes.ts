// Keeps one object of each class that has an instance for each task. If no instance exists during a garbage collection,
// V8 drops the hidden class and the code compiled for it. The next burst of 3000 tasks then takes 1.5 to 3 times as
// long (Node 22 to 26).

const kept: object[] = []

/** Only tests read it. */
export const keptShapes: readonly object[] = kept

/** @param sample created like the other instances of its class, with values of the same types */
export function keepShape(sample: object): void {
  kept[kept.length] = sample
}
