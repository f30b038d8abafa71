// Numbers that look random and are the same for the same seed: each task's kind, size and fate follow from its index alone,
// so that a run with a seed that failed meets the same mix, however its threads are scheduled.

export function mix(seed, index) {
  let word = Math.imul(index ^ seed, 0x9e3779b1)
  word = Math.imul(word ^ (word >>> 15), 0x85ebca77)
  word = Math.imul(word ^ (word >>> 13), 0xc2b2ae3d)
  return (word ^ (word >>> 16)) >>> 0
}

export function freshSeed() {
  return Math.floor(Math.random() * 2 ** 31)
}
