// The metrics that handlers have in the registers of their workers. Asks the workers at each scrape, and keeps the last answers: of a
// worker that is busy, and the totals of a worker that has ended.
import { AggregatorRegistry } from 'prom-client'
import type { Pool } from '../../index.js'
import { adapterFile, askWorkers, type QuestionListener, realClock, within } from '../../kit.js'
import type { LiveMetric, Metric, Register } from './register.js'

/** How long a scrape waits for a worker that did not answer the scrape before. */
const LATE_MS = 50

/** The last answer of one worker. */
class WorkerAnswer implements QuestionListener {
  metrics: Metric[] = []
  isAsked = false
  /** Resolves with the next answer, or when the worker has ended. */
  onNext: () => void = () => {}
  readonly #onEnded: (answer: WorkerAnswer) => void

  constructor(onEnded: (answer: WorkerAnswer) => void) {
    this.#onEnded = onEnded
  }

  onAnswer(answer: unknown): void {
    if (Array.isArray(answer)) this.metrics = answer
    this.isAsked = false
    this.onNext()
  }

  onEnded(): void {
    this.#onEnded(this)
    this.onNext()
  }
}

export class WorkerMetrics {
  readonly #timeoutMs: number
  readonly #byPool = new WeakMap<Pool, Map<number, WorkerAnswer>>()
  readonly #live = new Set<WorkerAnswer>()
  /** The totals of ended workers. */
  #ended: Metric[] = []
  #asking: Promise<void> | null = null

  constructor(timeoutMs: number) {
    this.#timeoutMs = timeoutMs
  }

  /** Resolves when the workers have answered, or after the time limit. Never rejects. */
  refresh(pools: readonly Pool[]): Promise<void> {
    this.#asking ??= this.#ask(pools).finally(() => {
      this.#asking = null
    })
    return this.#asking
  }

  async #ask(pools: readonly Pool[]): Promise<void> {
    const answers: Promise<void>[] = []
    const lateAnswers: Promise<void>[] = []
    for (const pool of pools) {
      if (pool.options.backend === 'inline') continue
      // A worker that has not answered the last question gets no further one.
      askWorkers(pool, questionUrl(), workerId => {
        const answer = this.#answerOf(pool, workerId)
        const next = new Promise<void>(resolve => {
          answer.onNext = resolve
        })
        if (answer.isAsked) {
          lateAnswers.push(next)
          return null
        }
        answer.isAsked = true
        answers.push(next)
        return answer
      })
    }
    const lateMs = Math.min(LATE_MS, this.#timeoutMs)
    await Promise.all([
      within(realClock, this.#timeoutMs, Promise.all(answers), () => {}),
      within(realClock, lateMs, Promise.all(lateAnswers), () => {}),
    ])
  }

  #answerOf(pool: Pool, workerId: number): WorkerAnswer {
    let ofPool = this.#byPool.get(pool)
    if (ofPool === undefined) {
      ofPool = new Map()
      this.#byPool.set(pool, ofPool)
    }
    let answer = ofPool.get(workerId)
    if (answer === undefined) {
      const ofWorkers = ofPool
      answer = new WorkerAnswer(ended => {
        ofWorkers.delete(workerId)
        this.#live.delete(ended)
        this.#ended = merged([this.#ended, totalsOf(ended.metrics)])
      })
      ofPool.set(workerId, answer)
      this.#live.add(answer)
    }
    return answer
  }

  /** The metrics of a register with those of all workers. Equal names are aggregated as in a cluster. */
  addTo(own: readonly LiveMetric[]): LiveMetric[] {
    const ofWorkers = new Map(
      merged([...[...this.#live].map(({ metrics }) => metrics), this.#ended]).map(metric => [
        keyOf(metric),
        metric,
      ]),
    )
    const all = own.map(metric => {
      const addition = ofWorkers.get(keyOf(metric))
      if (addition === undefined) return metric
      ofWorkers.delete(keyOf(metric))
      return live(
        metric,
        async () => merged([[{ ...(await metric.get()), name: addition.name }], [addition]])[0],
      )
    })
    for (const metric of ofWorkers.values()) all.push(live(metric, async () => metric))
    return all
  }
}

/** Makes a register show the metrics of the workers. Returns a function that ends it. */
export function extend(register: Register, workers: WorkerMetrics, pools: () => readonly Pool[]): () => void {
  const { metrics, getMetricsAsJSON, getMetricsAsArray } = register
  const extensions: Partial<Register> = {
    getMetricsAsArray: () => workers.addTo(getMetricsAsArray.call(register)),
    async metrics() {
      await workers.refresh(pools())
      return await metrics.call(register)
    },
    async getMetricsAsJSON() {
      await workers.refresh(pools())
      return await getMetricsAsJSON.call(register)
    },
  }
  Object.assign(register, extensions)
  return () => {
    for (const name of Object.keys(extensions) as (keyof Register)[])
      if (register[name] === extensions[name]) delete (register as Partial<Register>)[name]
  }
}

/** An OpenMetrics register changes `name`, and expects the new one from `get()`. */
function live(
  { name, help, type, aggregator }: Omit<Metric, 'values'>,
  read: () => Promise<Metric | undefined>,
): LiveMetric {
  return {
    name,
    help,
    type,
    aggregator,
    async get() {
      const values = (await read())?.values ?? []
      return { name: this.name, help, type, aggregator, values }
    },
  }
}

/** An OpenMetrics register has removed the ending of its own counters. */
function keyOf({ name, type }: Pick<Metric, 'name' | 'type'>): string {
  return type === 'counter' ? name.replace(/_total$/, '') : name
}

function merged(all: readonly (readonly Metric[])[]): Metric[] {
  const register = AggregatorRegistry.aggregate(all as never)
  return register.getMetricsAsArray() as unknown as Metric[]
}

/** What only grows. A gauge of an ended worker means nothing. */
function totalsOf(metrics: readonly Metric[]): Metric[] {
  return metrics
    .filter(({ type }) => type !== 'gauge')
    .map(metric => {
      if (metric.type !== 'summary') return metric
      return { ...metric, values: metric.values.filter(({ metricName }) => metricName !== undefined) }
    })
}

function questionUrl(): URL {
  return adapterFile('prometheus', questionPath)
}

/** @vercel/nft finds the file by a path that starts with `__dirname`, but not in an arrow function. */
function questionPath(): string {
  return `${__dirname}/../../../esm/adapters/prometheus/in-worker.js`
}
