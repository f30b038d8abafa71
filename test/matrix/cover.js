// Few of many cases, so that the values of so many axes are combined in every way in which there are cases. Without chance: the
// same cases give the same selection.
import { axes } from './axes.js'

const names = Object.keys(axes)

/** @param wise how many axes' values are combined */
export function cover(cases, wise) {
  const numbers = new Map()
  const combinations = cases.map(theCase =>
    subsets(names, wise).map(subset => {
      const key = subset.map(axis => `${axis}:${theCase[axis]}`).join()
      if (!numbers.has(key)) numbers.set(key, numbers.size)
      return numbers.get(key)
    }),
  )
  const isCovered = new Uint8Array(numbers.size)
  const freshOf = index => combinations[index].filter(number => isCovered[number] === 0).length
  const chosen = []
  // By how many fresh combinations each had when last looked at: it has no more since, so the largest that still has them is best.
  const bySize = subsets(names, wise).map(() => [])
  bySize.push([...cases.keys()].reverse())
  for (let size = bySize.length - 1; size > 0; ) {
    const index = bySize[size].pop()
    if (index === undefined) {
      size--
      continue
    }
    const fresh = freshOf(index)
    if (fresh < size) {
      bySize[fresh].push(index)
      continue
    }
    for (const number of combinations[index]) isCovered[number] = 1
    chosen.push(cases[index])
  }
  return { chosen, combinations: numbers.size }
}

function subsets(list, size) {
  if (size === 0) return [[]]
  return list.flatMap((first, index) =>
    subsets(list.slice(index + 1), size - 1).map(rest => [first, ...rest]),
  )
}
