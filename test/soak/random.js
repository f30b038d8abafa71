// Pseudo-random numbers from a seed. The kind and size of each task follow from the seed and its index alone. So a run with a
// failed seed has the same mix of tasks, whatever the order of its threads.

export function mix(seed, index) {
  let word = Math.imul(index ^ seed, 0x9e3779b1)
  word = Math.imul(word ^ (word >>> 15), 0x85ebca77)
  word = Math.imul(word ^ (word >>> 13), 0xc2b2ae3d)
  return (word ^ (word >>> 16)) >>> 0
}

export function freshSeed() {
  return Math.floor(Math.random() * 2 ** 31)
}
