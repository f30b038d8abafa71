// Plays one case with real workers. Waits for a fact that proves each moment, then causes the events of that moment.
import { once } from 'node:events'
import { onAnswered } from '../fixtures/handlers/matrix.js'
import { untilItWorks } from '../helpers/retry.js'
import { backends, endOf, happensAt } from './axes.js'
import { Findings } from './findings.js'
import { asksForFollower, endsForCancel, hasBlocker, isHeld, isStarted } from './oracle.js'
import { limitOptions, reason } from './outcomes.js'
import { Stage } from './stage.js'

const SHORT_MS = 20
/** Long enough for an answer while the host is blocked. LONGER_MS is long enough for the start of another worker before it. */
const LONG_MS = 200
const LONGER_MS = 1000

/** The ways to call the subject. Each resolves to its only result. */
const ways = {
  run: (pool, options) => pool.run('subject', { ...options, name: 'subject' }),
  map: (pool, options) => firstOf(pool.map(['subject'], { ...options, name: 'subject' })),
  stream: (pool, options) => firstOf(pool.stream('subject', { ...options, name: 'subjectStream' })),
}

async function firstOf(results) {
  const [first] = await results.toArray()
  return first
}

/** The machine was too slow for a moment of the case. The case must be played again. */
export class MomentMissed extends Error {}

globalThis[onAnswered] = new Map()

/** The scenes that play now. A scene that only waits for an event of its pool would be collected, with its pool. */
const playing = new Set()

/**
 * Resolves with the list of problems. Rejects with `MomentMissed`.
 *
 * @param slowness a factor for the time limits of tasks
 */
export async function play(Pool, theCase, verdict, slowness) {
  const stage = new Stage(theCase)
  const scene = new Scene(Pool, theCase, verdict, stage, slowness)
  playing.add(scene)
  try {
    await scene.play()
    return scene.findings.problems()
  } finally {
    stage.open('mercy')
    await scene.pool.destroy()
    playing.delete(scene)
    stage.remove()
  }
}

class Scene {
  #case
  #verdict
  #stage
  #slowness
  #controller = new AbortController()
  #calls = {}
  #recycled = null

  constructor(Pool, theCase, verdict, stage, slowness) {
    this.#case = theCase
    this.#verdict = verdict
    this.#stage = stage
    this.#slowness = slowness
    this.pool = new Pool({
      filename: stage.filename,
      ...backends[theCase.backend],
      name: 'other',
      minWorkers: 1,
      maxWorkers: 1,
      // A cancelled handler that can finish by itself may finish.
      cancelGrace: endsForCancel(theCase) ? SHORT_MS : Number.POSITIVE_INFINITY,
      ...(verdict.subject.allowed[0] === 'timeout' && { closeTimeout: SHORT_MS }),
      ...(theCase.fate === 'retired' && { maxTasksPerWorker: hasBlocker(theCase) ? 2 : 1 }),
    })
    this.findings = new Findings(this.pool, theCase, verdict, stage, this.#controller.signal)
  }

  async play() {
    const { subject } = this.#verdict
    if (!isHeld(this.#case)) this.#stage.open('start')
    await this.#happens('before')
    this.#call()
    await this.#happens('call')
    await this.#passStart()
    await this.#passQueue()
    if (isStarted(this.#verdict)) await this.#run()
    if (subject.at === 'answering') await this.#answer()
    this.#stage.open('subject')
    await this.#settled('subject')
    this.#stage.open('mercy')
    this.#stage.open('follower')
    await this.#settled('follower')
    if (happensAt(this.#case, 'after') || endOf(this.#case) === null) await this.#recycled
    await this.#happens('after')
    await this.#end()
  }

  #call() {
    const [what, moment] = this.#case.cancel.split(' ')
    const limits = what === 'limit' ? limitOptions(moment, this.#limitMs) : {}
    const signal = what === 'signal' ? { signal: this.#controller.signal } : {}
    if (hasBlocker(this.#case))
      this.#calls.blocker = this.findings.follow('blocker', this.pool.run('blocker'))
    const subject = ways[this.#case.way](this.pool, { ...limits, ...signal })
    this.#calls.subject = this.findings.follow('subject', subject)
    this.#calls.follower = this.findings.follow('follower', this.pool.run('follower'))
  }

  get #limitMs() {
    return this.#slowness * this.#shortestLimitMs
  }

  get #shortestLimitMs() {
    if (asksForFollower(this.#case, 'running') || asksForFollower(this.#case, 'answering')) return LONGER_MS
    // The body of a generator starts only after the host has asked for the first chunk.
    const isSlow = happensAt(this.#case, 'answering') || this.#case.way === 'stream'
    return isSlow ? LONG_MS : SHORT_MS
  }

  async #passStart() {
    if (happensAt(this.#case, 'starting')) {
      await Promise.race([this.#stage.said('loading'), this.#settled('subject')])
      await this.#happens('starting')
    }
    this.#stage.open('start')
  }

  async #passQueue() {
    if (!hasBlocker(this.#case)) return
    const { blocker } = this.#verdict
    if (blocker.at !== 'call' && blocker.at !== 'starting') {
      await Promise.race([this.#stage.said('started blocker'), this.#settled('blocker')])
      await this.#happens('queued')
    }
    this.#stage.open('blocker')
    await this.#settled('blocker')
  }

  async #run() {
    await this.#saidBeforeSubjectSettles('started subject')
    if (asksForFollower(this.#case, 'running')) await this.#saidBeforeSubjectSettles('started follower')
    await this.#happens('running')
  }

  /** The events happen before the host has read the answer. */
  async #answer() {
    if (!happensAt(this.#case, 'answering')) return
    const { backend, fate } = this.#case
    const hasFollowerStarted = asksForFollower(this.#case, 'answering')
    if (backend === 'inline') return await this.#answerInline(hasFollowerStarted)
    const isElsewhere = fate === 'retired' || fate === 'recycled'
    if (hasFollowerStarted && isElsewhere) await this.#saidBeforeSubjectSettles('started follower')
    if (this.findings.isSettled('subject')) throw new MomentMissed()
    this.#stage.open('subject')
    // The worker has one slot, so it has answered the subject when it starts the next task.
    this.#stage.blockUntilSaid(hasFollowerStarted && !isElsewhere ? 'started follower' : 'answered')
    await this.#happens('answering')
  }

  async #answerInline(hasFollowerStarted) {
    if (hasFollowerStarted) await this.#saidBeforeSubjectSettles('started follower')
    const { folder } = this.#stage
    await new Promise((resolve, reject) => {
      globalThis[onAnswered].set(folder, () => {
        globalThis[onAnswered].delete(folder)
        if (this.findings.isSettled('subject')) reject(new MomentMissed())
        else resolve(this.#happens('answering'))
      })
      this.#stage.open('subject')
    })
  }

  /** Causes all events of the moment in one turn, except events that need time to pass. */
  async #happens(moment) {
    for (const { what, at } of this.#case.happenings) {
      if (at !== moment) continue
      const done = this.#do(what, moment)
      if (done !== undefined) await done
    }
  }

  /** Returns a promise when the next event must wait for this one. */
  #do(what, moment) {
    switch (what) {
      case 'signal':
        return this.#controller.abort(reason)
      case 'limit':
        if (moment === 'answering') return this.#stage.block(this.#limitMs)
        return moment === 'before' || moment === 'after' ? undefined : this.#settled('subject')
      case 'terminated':
        return void this.pool.workers[0].terminate()
      case 'recycled':
        this.#recycled = this.findings.followRecycle(this.pool.recycle())
        return
      case 'exitsIdle':
        return this.#exitIdle()
      case 'close':
      case 'force':
        return void this.findings.followClose(this.pool.close({ force: what === 'force' }))
      case 'destroy':
        return void this.findings.followClose(this.pool.destroy())
      default:
        // The handler, or its file while it loads, checks this gate.
        return this.#stage.open(what)
    }
  }

  async #exitIdle() {
    const isDestroyed = endOf(this.#case) === null ? once(this.pool, 'workerDestroy') : null
    await this.findings.follow('exitIdle', this.pool.run(undefined, { name: 'exitIdle' }))
    this.findings.isDying = isDestroyed
    this.#stage.open('idle')
  }

  /** An open pool runs one more task. Then the pool is closed. */
  async #end() {
    if (endOf(this.#case) === null) {
      await this.findings.isDying
      this.#stage.open('plain')
      const plain = () => this.pool.run('plain')
      const isPaused = this.#case.fate.endsWith('AtStart')
      await this.findings.follow('plain', isPaused ? untilItWorks(plain) : plain())
      // The retired worker may still be leaving. Then its successor starts later.
      if (this.#case.fate === 'retired' && this.pool.workers.length === 0)
        await once(this.pool, 'workerCreate')
      this.findings.noteWorkers()
      this.findings.followClose(this.pool.close())
    }
    await this.findings.closed()
  }

  /** Waits for a line of the journal. On a slow machine, the subject may settle before the line is written. */
  async #saidBeforeSubjectSettles(line) {
    await Promise.race([this.#stage.said(line), this.#settled('subject')])
    // A closing pool may have killed the worker before the line.
    const mayMissLine = this.#verdict.subject.allowed[0] === 'timeout'
    if (this.#stage.count(line) === 0 && !mayMissLine) throw new MomentMissed()
  }

  async #settled(who) {
    await this.#calls[who]?.catch(() => {})
  }
}
