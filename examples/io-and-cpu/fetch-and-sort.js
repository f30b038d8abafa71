// Keeps the work in its two parts and whole: fetching lists of numbers, which waits, and reading and sorting them,
// which computes. Each does its part three times over. The file is the worker's handler; `name` chooses the part.
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
