// The list of numbers that is served and sorted. It is always the same, and not sorted.
export function makeListText(length) {
  let state = 42
  const numbers = Array.from({ length }, () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return state
  })
  return JSON.stringify(numbers)
}
