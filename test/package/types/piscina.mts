// lido/piscina in an ES module.
import Piscina, {
  ArrayTaskQueue,
  FixedQueue,
  type isWorkerThread,
  move,
  type PiscinaTask,
  queueOptionsSymbol,
  Piscina as SamePiscina,
  type TaskQueue,
  transferableSymbol,
  valueSymbol,
  version,
  workerData,
} from 'lido/piscina'
import { isTrue, type Same } from './checks.mjs'

const piscina = new Piscina<string, number>({ filename: '/worker.js', maxQueue: 'auto', atomics: 'disabled' })
const length = piscina.run('text', { name: 'length', signal: new AbortController().signal, transferList: [] })
isTrue<Same<typeof length, Promise<number>>>()
// @ts-expect-error the pool takes strings
piscina.run(1)
// @ts-expect-error a number
new Piscina({ maxThreads: '4' })

const named: SamePiscina<string, number> = piscina
// Signals with Piscina's event methods, read-only transfer lists, and options with their default values.
const frozen: readonly ArrayBuffer[] = []
piscina.run('text', { transferList: frozen, signal: { once() {}, off() {} } })
piscina.run('text', { signal: { addEventListener() {}, removeEventListener() {} } })
const filled: [number, boolean, boolean] = [
  piscina.options.taskQueue.size,
  piscina.options.stricterFIFO,
  piscina.options.workerHistogram,
]
const untyped = new SamePiscina({ filename: '/worker.js' })
const anything = untyped.run({ any: 'thing' })
isTrue<Same<typeof anything, Promise<any>>>()

class Sub extends Piscina<number, string> {}
const sub: Piscina<number, string> = new Sub({ minThreads: 0 })

class Tagged implements TaskQueue {
  readonly #tasks: PiscinaTask[] = []

  get size(): number {
    return this.#tasks.length
  }

  push(task: PiscinaTask): void {
    const tag: object | null = task[queueOptionsSymbol]
    if (tag === null) this.#tasks.push(task)
    else this.#tasks.unshift(task)
  }

  shift(): PiscinaTask | null {
    return this.#tasks.shift() ?? null
  }

  remove(task: PiscinaTask): void {
    this.#tasks.splice(this.#tasks.indexOf(task), 1)
  }
}

/** A queue needs only the options of a task, so a test may use tasks of its own. */
interface Numbered {
  readonly [queueOptionsSymbol]: object | null
}
class Tried implements TaskQueue {
  size = 0

  push(_task: Numbered): void {}

  shift(): Numbered | null {
    return null
  }

  remove(_task: Numbered): void {}
}
new Piscina({ taskQueue: new Tried() })
const bare: Numbered = { [queueOptionsSymbol]: null }
new FixedQueue().push(bare)
new ArrayTaskQueue().tasks = [bare]

for (const taskQueue of [new Tagged(), new ArrayTaskQueue(), new FixedQueue(), new Piscina.FixedQueue()]) {
  new Piscina({ taskQueue, loadBalancer: (task, workers) => (task.taskId > 1 ? (workers[0] ?? null) : null) })
}

export async function main(): Promise<number> {
  await using pool = new Piscina<string, number>({ filename: '/worker.js' })
  pool.on('drain', () => {})
  const p99: number = piscina.histogram.runTime.p99
  await named.close({ force: true })
  await sub.destroy()
  return (await pool.run('text')) + p99 + piscina.utilization + piscina.threads.length + piscina.queueSize
}

isTrue<Same<typeof isWorkerThread, boolean>>()
export const { options: filledIn, run } = piscina
export const rest = [
  move(new ArrayBuffer(1)),
  transferableSymbol,
  valueSymbol,
  version.length,
  workerData,
  filled,
]
