// Selects few of many cases. The selection contains each combination of values of N axes that any case has. The selection is not
// random: the same cases give the same selection.
import { axes } from './axes.js'

const names = Object.keys(axes)

/** @param wise the number of axes whose values are combined */
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
  // The cases by the number of uncovered combinations that each had at the last count. The number never rises, so a case whose
  // number is still right is the best of all.
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
