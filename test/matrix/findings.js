// Records the results of a case, and compares them with the verdict of the oracle.
import { getEventListeners } from 'node:events'
import { isDeepStrictEqual } from 'node:util'
import { endOf, moments } from './axes.js'
import { expectedErrors, isStarted, keepsWorker } from './oracle.js'
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
  /** Resolves when the host knows that a worker exited by itself. */
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

  /** Resolves when the call has settled, and records the outcome. */
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
    // The pool emits 'close' after its own work.
    await new Promise(resolve => setImmediate(resolve))
  }

  /** Returns a sentence for each problem. */
  problems() {
    return [
      ...this.#outcomes(),
      ...this.#starts(),
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
        yield `${who}: the outcome is ${word}, expected ${verdict.allowed.join(' or ')}`
    }
  }

  /** No task may start twice. When the verdict is certain, it says whether the task must start. */
  *#starts() {
    const isSure = this.#verdict.subject.allowed[0] !== 'timeout'
    for (const [who, verdict] of Object.entries(this.#verdict)) {
      if (verdict === null) continue
      const times = this.#stage.count(`started ${who}`)
      if (times > 1) yield `${who} was started ${times} times`
      const mustStart = who === 'subject' ? isStarted(this.#verdict) : verdict.allowed[0] === 'answer'
      if (isSure && mustStart && times === 0) yield `${who} was not started`
      const mayStart = mustStart || (who !== 'subject' && verdict.at !== 'call' && verdict.at !== 'starting')
      if (isSure && !mayStart && times > 0)
        yield `${who} was started, but should have settled before its start`
    }
  }

  *#counts() {
    const { accepted, fulfilled, rejected, cancelled, waiting, inFlight } = this.#pool.stats().tasks
    const counted = { accepted, fulfilled, rejected, cancelled, waiting, inFlight }
    const due = { accepted: 0, fulfilled: 0, rejected: 0, cancelled: 0, waiting: 0, inFlight: 0 }
    for (const [who, settled] of this.#settled) {
      const word = wordFor(settled, who, this.#case)
      // The pool never accepted the task.
      if (who === 'subject' && this.#verdict.subject.at === 'before') continue
      due.accepted++
      if (settled.status === 'fulfilled') due.fulfilled++
      else if (word === 'cancelled' || word === 'limit') due.cancelled++
      else due.rejected++
    }
    // The last task may have been called several times after a file did not load.
    if (this.#case.fate.endsWith('AtStart')) {
      due.accepted = counted.accepted
      due.rejected = counted.rejected
      if (accepted !== fulfilled + rejected + cancelled)
        yield `accepted is not the sum of fulfilled, rejected and cancelled: ${JSON.stringify(counted)}`
    }
    if (!isDeepStrictEqual(counted, due)) {
      yield `stats() shows ${JSON.stringify(counted)}, expected ${JSON.stringify(due)}`
    }
  }

  *#events() {
    const ids = workers => workers.map(worker => worker.id).sort()
    const [created, destroyed] = [ids(this.#created), ids(this.#destroyed)]
    if (!isDeepStrictEqual(created, destroyed))
      yield `workers ${created} were created, but workers ${destroyed} were destroyed`
    if (new Set(created).size < created.length) yield `a worker was created twice: ${created}`
    if (this.#closeEvents !== 1) yield `the event 'close' was emitted ${this.#closeEvents} times`
    const words = this.#errors.map(error => wordForError(error, this.#case) ?? describe(error))
    const due = expectedErrors(this.#case, this.#verdict)
    if (!isDeepStrictEqual(words, due)) yield `the 'error' events are [${words}], expected [${due}]`
    if (this.#workersAtEnd === null) return
    if (this.#workersAtEnd.length !== 1)
      yield `the workers at the end are [${this.#workersAtEnd}], expected one worker`
    const isFirst = this.#workersAtEnd[0] === 1
    if (isFirst !== keepsWorker(this.#case, this.#verdict) && this.#case.fate !== 'retired') {
      yield isFirst
        ? 'the first worker was not replaced'
        : `worker ${this.#workersAtEnd} replaced the first worker`
    }
  }

  *#ends() {
    const end = endOf(this.#case)
    const words = [...this.#settled].map(([who, settled]) => wordFor(settled, who, this.#case))
    const cutOff = words.filter(word => ['forced', 'destroyed', 'timeout'].includes(word)).length
    const report = end?.what === 'destroy' ? undefined : { cutOff, timedOut: words.includes('timeout') }
    for (const result of this.#closes) {
      if (!isDeepStrictEqual(result, report)) {
        yield `close() resolved with ${JSON.stringify(result)}, expected ${JSON.stringify(report)}`
      }
    }
    if (this.#case.fate !== 'recycled') return
    const due = recycleDue(end)
    if (!due.includes(this.#recycle))
      yield `the outcome of recycle() is ${this.#recycle}, expected ${due.join(' or ')}`
  }

  *#nothingLeft() {
    const { state, workers } = this.#pool.stats()
    if (state !== 'closed') yield `the pool is ${state}, expected closed`
    if (workers.length > 0) yield `${workers.length} workers are left`
    for (const { id, thread, process: child } of this.#created) {
      if (thread !== null && thread.threadId !== -1) yield `the thread of worker ${id} still runs`
      if (child !== null && child.exitCode === null && child.signalCode === null)
        yield `the process of worker ${id} still runs`
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
