// `Results` with a queue that answers from memory. Each test emits the events of its jobs.
import assert from 'node:assert/strict'
import { EventEmitter, once } from 'node:events'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Engine } from './engine.js'
import { remoteClasses } from './remote-errors.js'
import { type Answer, Results, type Waiter } from './results.js'

class MemoryQueue extends EventEmitter {
  readonly jobs = new Map<string, object & { state: string }>()
  readonly questions: (readonly string[])[] = []
  readonly reads: string[] = []
  readonly errors: Error[] = []
  readonly events = new EventEmitter()
  readonly results: Results
  failure: Error | null = null
  /** The answer to a question waits for it. */
  answering: Promise<void> | null = null
  readonly opts = {}
  readonly backend = {
    getJobData: async (id: string) => {
      this.reads.push(id)
      const { state: _, ...job } = this.jobs.get(id) ?? {}
      return this.jobs.has(id) ? job : undefined
    },
  }

  constructor({ isPostgres = true } = {}) {
    super()
    const engine = { isPostgres, statesOf: (_, ids) => this.#statesOf(ids) } as Partial<Engine> as Engine
    const values = { classes: remoteClasses([]), maxValueBytes: 1000 }
    this.results = new Results(engine, this as never, this.events as never, values, error => {
      this.errors.push(error)
    })
  }

  async #statesOf(ids: readonly string[]): Promise<Map<string, string>> {
    this.questions.push(ids)
    this.emit('question')
    if (this.failure !== null) throw this.failure
    const found = ids.flatMap(id => (this.jobs.has(id) ? [[id, this.jobs.get(id)!.state] as const] : []))
    await this.answering
    return new Map(found)
  }

  toKey(type: string): string {
    return type
  }

  addJob(id: string): void {
    this.jobs.set(id, { state: 'waiting', id, name: 'x', data: '"long"', opts: { lido: {} } } as never)
  }

  complete(id: string, value: unknown): void {
    const end = { state: 'completed', finishedOn: 2, returnvalue: JSON.stringify(value) }
    this.jobs.set(id, { ...this.jobs.get(id)!, ...end })
  }

  /** Resolves to the answer. */
  wait(jobId: string, { isAdded = true, isOwner = true, needsJob = false } = {}) {
    let waiter: Waiter
    const answer = new Promise<Answer>(resolve => {
      const settle = (given: Answer) => {
        this.results.remove(waiter)
        resolve(given)
      }
      waiter = { jobId, settle, onProgress: null, onActive() {}, onWaiting() {}, isAdded, needsJob, isOwner }
      this.results.add(waiter)
    })
    return { answer, waiter: waiter! }
  }

  async asked(times: number): Promise<void> {
    while (this.questions.length < times) await once(this, 'question')
  }
}

const codeOf = (answer: Answer) => 'error' in answer && (answer.error as { code?: unknown }).code

test('questions ask for up to 1,000 jobs each, and only finished jobs are read', async () => {
  const queue = new MemoryQueue()
  const ids = Array.from({ length: 2500 }, (_, index) => `job-${index}`)
  for (const id of ids) {
    queue.addJob(id)
    queue.wait(id)
  }
  queue.complete('job-7', 7)
  const { answer } = queue.wait('job-7')
  assert.equal(((await answer) as { value: unknown }).value, 7)
  await queue.asked(9)
  queue.results.end()
  assert.deepEqual(queue.reads, ['job-7'])
  assert.ok(queue.questions.every(({ length }) => length <= 1000))
  assert.equal(new Set(queue.questions.slice(0, 3).flat()).size, 2500)
})

test('a job that waits is asked for at growing distances, and soon again when it starts', async () => {
  const queue = new MemoryQueue()
  queue.addJob('a')
  queue.wait('a')
  const times: number[] = []
  queue.on('question', () => times.push(performance.now()))
  await queue.asked(5)
  const distances = times.slice(1).map((time, index) => time - times[index]!)
  assert.ok(distances.at(-1)! > distances[0]!, String(distances))
  const startedAt = performance.now()
  queue.events.emit('active', { jobId: 'a' })
  await queue.asked(6)
  queue.results.end()
  assert.ok(performance.now() - startedAt < distances.at(-1)! * 2)
})

test('an event makes lido ask at once, and an event with the result needs no question', async () => {
  const queue = new MemoryQueue({ isPostgres: false })
  for (const id of ['known', 'times', 'other', 'failed']) queue.addJob(id)
  const known = queue.wait('known')
  const times = queue.wait('times', { needsJob: true })
  const other = queue.wait('other', { isOwner: false })
  const failed = queue.wait('failed')
  for (const id of ['known', 'times', 'other']) {
    queue.complete(id, 'new')
    queue.events.emit('completed', { jobId: id, returnvalue: id === 'known' ? 'new' : 'old' })
  }
  const failure = { state: 'failed', finishedOn: 2, failedReason: 'broken' }
  queue.jobs.set('failed', { ...queue.jobs.get('failed')!, ...failure })
  queue.events.emit('failed', { jobId: 'failed' })
  for (const { answer } of [known, times, other]) {
    assert.equal(((await answer) as { value: unknown }).value, 'new')
  }
  assert.equal(codeOf(await failed.answer), 'ERR_LIDO_JOB_FAILED')
  assert.deepEqual(queue.questions, [['times', 'other', 'failed']])
})

test('a missing job is lost only for calls whose job was confirmed before the question', async () => {
  const queue = new MemoryQueue()
  let release!: () => void
  queue.answering = new Promise(resolve => {
    release = resolve
  })
  const before = queue.wait('a')
  const during = queue.wait('a', { isAdded: false })
  await queue.asked(1)
  during.waiter.isAdded = true
  release()
  assert.equal(codeOf(await before.answer), 'ERR_LIDO_JOB_LOST')
  queue.addJob('a')
  queue.complete('a', 5)
  assert.equal(((await during.answer) as { value: unknown }).value, 5)
  queue.results.end()
})

test('a job that is added between the question and its reading is not lost', async () => {
  const queue = new MemoryQueue()
  const { answer, waiter } = queue.wait('a', { isAdded: false })
  await queue.asked(1)
  queue.addJob('a')
  queue.complete('a', 1)
  waiter.isAdded = true
  queue.results.onAdded(waiter)
  assert.equal(((await answer) as { value: unknown }).value, 1)
})

for (const isPostgres of [true, false]) {
  test(`all jobs are looked at after an interruption, isPostgres ${isPostgres}`, async () => {
    const queue = new MemoryQueue({ isPostgres })
    const ids = ['a', 'b', 'c']
    for (const id of ids) queue.addJob(id)
    const waits = ids.map(id => queue.wait(id))
    queue.failure = Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' })
    queue.results.onInterrupted()
    await queue.asked(2)
    for (const id of ids) queue.complete(id, id)
    queue.failure = null
    for (const { answer } of waits) assert.ok('value' in (await answer))
    assert.equal(queue.results.isInterrupted, false)
    assert.deepEqual(queue.errors, [])
  })
}

test('a refused question gives one error, and lido asks again later', async () => {
  const queue = new MemoryQueue()
  queue.addJob('a')
  queue.complete('a', 1)
  queue.failure = new Error('permission denied')
  const { answer } = queue.wait('a')
  await queue.asked(2)
  queue.failure = null
  assert.ok('value' in (await answer))
  assert.equal(queue.errors.length, queue.questions.length - 1)
})

test('no question is asked when no call waits', async () => {
  const queue = new MemoryQueue()
  queue.addJob('a')
  const { waiter } = queue.wait('a')
  queue.results.remove(waiter)
  await sleep(60)
  assert.deepEqual(queue.questions, [])
})
