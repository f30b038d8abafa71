// The load: `inFlight` callers that each await a task and then submit the next, until the time is over.
import { deepStrictEqual } from 'node:assert/strict'

// Callers look at the clock once in so many tasks: a look costs as much as a fast pool's whole submission.
const tasksPerLook = 64

/** Sends what `create` makes through `run` for about `durationMs`; resolves to what that took. */
export async function load(run, { create, inFlight, durationMs }) {
  let taskCount = 0
  let isOver = false

  async function call() {
    while (!isOver) {
      await run(create(taskCount))
      taskCount += 1
      if (taskCount % tasksPerLook === 0) isOver = performance.now() >= deadline
    }
  }

  const startedAt = performance.now()
  const deadline = startedAt + durationMs
  await Promise.all(Array.from({ length: inFlight }, call))
  return { taskCount, elapsedMs: performance.now() - startedAt }
}

/** One caller that takes the time of each of its tasks. */
export async function timeRoundTrips(run, { create, durationMs }) {
  const micros = []
  const startedAt = performance.now()
  let now = startedAt
  while (now - startedAt < durationMs) {
    const payload = create(micros.length)
    const sentAt = performance.now()
    await run(payload)
    now = performance.now()
    micros.push((now - sentAt) * 1000)
  }
  return { taskCount: micros.length, elapsedMs: now - startedAt, micros }
}

/** A pool that does not give to each caller what is that caller's is no contestant: as many at once as later count. */
export async function checkAnswers(run, { create, inFlight }) {
  const sent = Array.from({ length: inFlight }, (_, i) => create(7 + i))
  const answers = await Promise.all(sent.map(payload => run(payload)))
  deepStrictEqual(answers, sent)
  return answers.length
}
