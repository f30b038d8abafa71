// The two parts of the work, and both together: fetching lists of numbers, which waits, and parsing and sorting them, which computes.
// Each is done three times. The file is the handler of the pool, and `name` chooses the function.
const times = 3

export async function fetchOnly({ url }) {
  let length = 0
  for (let round = 0; round < times; round++) length += (await fetchText(url)).length
  return length
}

export function sortOnly({ text }) {
  let median = 0
  for (let round = 0; round < times; round++) median = medianOf(text)
  return median
}

export async function fetchThenSort({ url }) {
  let median = 0
  for (let round = 0; round < times; round++) median = medianOf(await fetchText(url))
  return median
}

async function fetchText(url) {
  const response = await fetch(url)
  if (!response.ok) throw new Error(`the list server answered ${response.status}`)
  return response.text()
}

function medianOf(text) {
  const numbers = JSON.parse(text).sort((a, b) => a - b)
  return numbers[numbers.length >> 1]
}
