// What was seen of a case, held against its verdict.
import { getEventListeners } from 'node:events'
import { isDeepStrictEqual } from 'node:util'
import { endOf, moments } from './axes.js'
import { errorsTold, isBegun, keepsWorker } from './oracle.js'
import { describe, wordFor, wordForError } from './outcomes.js'

export class Findings {
  #pool
  #case
  #verdict
  #stage
  #signal
  #settled = new Map()
  #created = []
  #destroyed = []
  #errors = []
  #closeEvents = 0
  #closes = []
  #recycle = null
  #workersAtEnd = null
  /** Resolves when a worker that ends itself is known to have ended. */
  isDying = null

  constructor(pool, theCase, verdict, stage, signal) {
    this.#pool = pool
    this.#case = theCase
    this.#verdict = verdict
    this.#stage = stage
    this.#signal = signal
    pool.on('workerCreate', worker => this.#created.push(worker))
    pool.on('workerDestroy', worker => this.#destroyed.push(worker))
    pool.on('error', error => this.#errors.push(error))
    pool.on('close', () => this.#closeEvents++)
  }

  /** Gives the call back as a promise of its settlement. */
  async follow(who, call) {
    const [settled] = await Promise.allSettled([call])
    this.#settled.set(who, settled)
  }

  isSettled(who) {
    return this.#settled.has(who)
  }

  followClose(call) {
    this.#closes.push(call)
  }

  async followRecycle(call) {
    const [settled] = await Promise.allSettled([call])
    this.#recycle = settled.status === 'fulfilled' ? 'done' : (settled.reason?.code ?? String(settled.reason))
  }

  noteWorkers() {
    this.#workersAtEnd = this.#pool.workers.map(worker => worker.id)
  }

  async closed() {
    this.#closes = await Promise.all(this.#closes)
    // The event is told when the pool's own work is done.
    await new Promise(resolve => setImmediate(resolve))
  }

  /** Sentences; none if nothing is wrong. */
  problems() {
    return [
      ...this.#outcomes(),
      ...this.#begun(),
      ...this.#counts(),
      ...this.#events(),
      ...this.#ends(),
      ...this.#nothingLeft(),
    ]
  }

  *#outcomes() {
    const isOpen = endOf(this.#case) === null
    const expected = { ...this.#verdict, plain: isOpen ? { allowed: ['answer'] } : null }
    for (const [who, verdict] of Object.entries(expected)) {
      if (verdict === null) continue
      const word = wordFor(this.#settled.get(who), who, this.#case)
      if (!verdict.allowed.includes(word))
        yield `${who}: ${verdict.allowed.join(' or ')} was due, it came to ${word}`
    }
  }

  /** Never twice; and where the verdict is sure of it, once or never. */
  *#begun() {
    const isSure = this.#verdict.subject.allowed[0] !== 'timeout'
    for (const [who, verdict] of Object.entries(this.#verdict)) {
      if (verdict === null) continue
      const times = this.#stage.count(`begun ${who}`)
      if (times > 1) yield `${who} was begun ${times} times`
      const mustBegin = who === 'subject' ? isBegun(this.#verdict) : verdict.allowed[0] === 'answer'
      if (isSure && mustBegin && times === 0) yield `${who} was never begun`
      const mayBegin = mustBegin || (who !== 'subject' && verdict.at !== 'call' && verdict.at !== 'starting')
      if (isSure && !mayBegin && times > 0) yield `${who} was begun, and settled before`
    }
  }

  *#counts() {
    const { accepted, fulfilled, rejected, cancelled, waiting, inFlight } = this.#pool.stats().tasks
    const counted = { accepted, fulfilled, rejected, cancelled, waiting, inFlight }
    const due = { accepted: 0, fulfilled: 0, rejected: 0, cancelled: 0, waiting: 0, inFlight: 0 }
    for (const [who, settled] of this.#settled) {
      const word = wordFor(settled, who, this.#case)
      // Not taken in at all.
      if (who === 'subject' && this.#verdict.subject.at === 'before') continue
      due.accepted++
      if (settled.status === 'fulfilled') due.fulfilled++
      else if (word === 'cancelled' || word === 'limit') due.cancelled++
      else due.rejected++
    }
    // A file that did not load may have been tried more than once for the last task.
    if (this.#case.fate.endsWith('AtStart')) {
      due.accepted = counted.accepted
      due.rejected = counted.rejected
      if (accepted !== fulfilled + rejected + cancelled)
        yield `the counts do not add up: ${JSON.stringify(counted)}`
    }
    if (!isDeepStrictEqual(counted, due)) {
      yield `stats() counted ${JSON.stringify(counted)}, it was ${JSON.stringify(due)}`
    }
  }

  *#events() {
    const ids = workers => workers.map(worker => worker.id).sort()
    const [created, destroyed] = [ids(this.#created), ids(this.#destroyed)]
    if (!isDeepStrictEqual(created, destroyed))
      yield `workers ${created} were created, ${destroyed} destroyed`
    if (new Set(created).size < created.length) yield `workers ${created} were created`
    if (this.#closeEvents !== 1) yield `'close' was told ${this.#closeEvents} times`
    const words = this.#errors.map(error => wordForError(error, this.#case) ?? describe(error))
    const due = errorsTold(this.#case, this.#verdict)
    if (!isDeepStrictEqual(words, due)) yield `the events 'error' were [${words}], [${due}] were due`
    if (this.#workersAtEnd === null) return
    if (this.#workersAtEnd.length !== 1) yield `at the end there were the workers ${this.#workersAtEnd}`
    const isFirst = this.#workersAtEnd[0] === 1
    if (isFirst !== keepsWorker(this.#case, this.#verdict) && this.#case.fate !== 'retired') {
      yield isFirst
        ? 'the first worker was kept'
        : `the first worker was lost for worker ${this.#workersAtEnd}`
    }
  }

  *#ends() {
    const end = endOf(this.#case)
    const words = [...this.#settled].map(([who, settled]) => wordFor(settled, who, this.#case))
    const cutOff = words.filter(word => ['forced', 'destroyed', 'timeout'].includes(word)).length
    const report = end?.what === 'destroy' ? undefined : { cutOff, timedOut: words.includes('timeout') }
    for (const told of this.#closes) {
      if (!isDeepStrictEqual(told, report)) {
        yield `the end was reported as ${JSON.stringify(told)}, it was ${JSON.stringify(report)}`
      }
    }
    if (this.#case.fate !== 'recycled') return
    const due = recycleDue(end)
    if (!due.includes(this.#recycle)) yield `recycle() came to ${this.#recycle}, ${due.join(' or ')} was due`
  }

  *#nothingLeft() {
    const { state, workers } = this.#pool.stats()
    if (state !== 'closed') yield `the pool is ${state}`
    if (workers.length > 0) yield `${workers.length} workers are left`
    for (const { id, thread, process: child } of this.#created) {
      if (thread !== null && thread.threadId !== -1) yield `the thread of worker ${id} is left`
      if (child !== null && child.exitCode === null && child.signalCode === null)
        yield `the process of worker ${id} is left`
    }
    const listeners = getEventListeners(this.#signal, 'abort').length
    if (listeners > 0) yield `${listeners} listeners are left on the signal`
  }
}

function recycleDue(end) {
  const closed = 'ERR_LIDO_POOL_CLOSED'
  if (end === null) return ['done']
  const place = moments.indexOf(end.at) - moments.indexOf('answering')
  return place < 0 ? [closed] : place === 0 ? ['done', closed] : ['done']
}
