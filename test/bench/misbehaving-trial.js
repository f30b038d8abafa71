// A trial for tests. Each turn behaves as its settings say. A good turn returns how many turns its process has run.
let turnCount = 0

export async function takeTurn(_contestant, { way }) {
  turnCount += 1
  if (way === 'crash') process.exit(3)
  if (way === 'hang') await new Promise(() => {})
  if (way === 'block') for (;;);
  if (way === 'throw') throw new Error('expected 8, got 7')
  if (way === 'unavailable') throw Object.assign(new Error('no such option'), { isUnavailable: true })
  return { turnCount }
}
