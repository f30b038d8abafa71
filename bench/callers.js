// Creates the load: each of `inFlight` callers awaits its task, then submits the next one, until the time is over.
import { deepStrictEqual } from 'node:assert/strict'

// Callers read the clock once in 64 tasks. Reading it costs as much as submitting a task to a fast pool.
const tasksPerClockRead = 64

/** Calls `run` with payloads from `create` for about `durationMs`. */
export async function load(run, { create, inFlight, durationMs }) {
  let taskCount = 0
  let isOver = false

  async function call() {
    while (!isOver) {
      await run(create(taskCount))
      taskCount += 1
      if (taskCount % tasksPerClockRead === 0) isOver = performance.now() >= deadline
    }
  }

  const startedAt = performance.now()
  const deadline = startedAt + durationMs
  await Promise.all(Array.from({ length: inFlight }, call))
  return { taskCount, elapsedMs: performance.now() - startedAt }
}

/** Runs one caller, which measures the time of each task. */
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

/** Checks that each caller gets its own answer, with as many tasks in flight as the measured turn has. */
export async function checkAnswers(run, { create, inFlight }) {
  const sent = Array.from({ length: inFlight }, (_, i) => create(7 + i))
  const answers = await Promise.all(sent.map(payload => run(payload)))
  deepStrictEqual(answers, sent)
  return answers.length
}

const windowSize = 64

/** As a program writes it by hand: 64 tasks are in flight at most, and the results have the order of the input. */
export async function* mapInWindow(run, source) {
  const inFlight = []
  for await (const payload of source) {
    inFlight.push(run(payload))
    if (inFlight.length === windowSize) yield await inFlight.shift()
  }
  while (inFlight.length > 0) yield await inFlight.shift()
}
