// Plays one case with real workers: forces each moment by a fact, lets happen there what the case has for it, and goes on.
import { once } from 'node:events'
import { onAnswered } from '../fixtures/handlers/matrix.js'
import { untilItWorks } from '../helpers/retry.js'
import { backends, endOf, happensAt } from './axes.js'
import { Findings } from './findings.js'
import { asksForFollower, endsForCancel, hasBlocker, isBegun, isHeld } from './oracle.js'
import { limitOptions, reason } from './outcomes.js'
import { Stage } from './stage.js'

const SHORT_MS = 20
/** Long enough for a task to be answered while the host is blocked; and for another worker to start before. */
const LONG_MS = 200
const LONGER_MS = 1000

/** The machine was too slow for the moment that the case wants; it is to be played again. */
export class MomentMissed extends Error {}

globalThis[onAnswered] = new Map()

/** Resolves with what was wrong, none if nothing; rejects with `MomentMissed`. */
export async function play(Pool, theCase, verdict) {
  const stage = new Stage(theCase)
  const scene = new Scene(Pool, theCase, verdict, stage)
  try {
    await scene.play()
    return scene.findings.problems()
  } finally {
    stage.open('mercy')
    await scene.pool.destroy()
    stage.remove()
  }
}

class Scene {
  #case
  #verdict
  #stage
  #controller = new AbortController()
  #calls = {}
  #recycled = null

  constructor(Pool, theCase, verdict, stage) {
    this.#case = theCase
    this.#verdict = verdict
    this.#stage = stage
    this.pool = new Pool({
      filename: stage.filename,
      ...backends[theCase.backend],
      name: 'other',
      minWorkers: 1,
      maxWorkers: 1,
      // Who is cancelled and can end by itself is let end.
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
    if (isBegun(this.#verdict)) await this.#run()
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
    const options = { name: 'subject', ...limits, ...signal }
    this.#calls.subject = this.findings.follow('subject', this.pool.run('subject', options))
    this.#calls.follower = this.findings.follow('follower', this.pool.run('follower'))
  }

  get #limitMs() {
    if (asksForFollower(this.#case, 'running') || asksForFollower(this.#case, 'answering')) return LONGER_MS
    return happensAt(this.#case, 'answering') ? LONG_MS : SHORT_MS
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
      await Promise.race([this.#stage.said('begun blocker'), this.#settled('blocker')])
      await this.#happens('queued')
    }
    this.#stage.open('blocker')
    await this.#settled('blocker')
  }

  async #run() {
    await this.#saidBySubjectsEnd('begun subject')
    if (asksForFollower(this.#case, 'running')) await this.#saidBySubjectsEnd('begun follower')
    await this.#happens('running')
  }

  /** What happens there happens before the host has taken in the answer. */
  async #answer() {
    if (!happensAt(this.#case, 'answering')) return
    const { backend, fate } = this.#case
    const hasOtherBegun = asksForFollower(this.#case, 'answering')
    if (backend === 'inline') return await this.#answerInline(hasOtherBegun)
    const isElsewhere = fate === 'retired' || fate === 'recycled'
    if (hasOtherBegun && isElsewhere) await this.#saidBySubjectsEnd('begun follower')
    if (this.findings.isSettled('subject')) throw new MomentMissed()
    this.#stage.open('subject')
    // One slot: who begins the next has answered the last.
    this.#stage.blockUntilSaid(hasOtherBegun && !isElsewhere ? 'begun follower' : 'answered')
    await this.#happens('answering')
  }

  async #answerInline(hasOtherBegun) {
    if (hasOtherBegun) await this.#saidBySubjectsEnd('begun follower')
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

  /** All in one turn, unless it is the clock that does it. */
  async #happens(moment) {
    for (const { what, at } of this.#case.happenings) {
      if (at !== moment) continue
      const done = this.#do(what, moment)
      if (done !== undefined) await done
    }
  }

  /** A promise where the next must wait for it. */
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
        // The handler, or the file that loads, looks whether it is to end.
        return this.#stage.open(what)
    }
  }

  async #exitIdle() {
    const isDestroyed = endOf(this.#case) === null ? once(this.pool, 'workerDestroy') : null
    await this.findings.follow('exitIdle', this.pool.run(undefined, { name: 'exitIdle' }))
    this.findings.isDying = isDestroyed
    this.#stage.open('idle')
  }

  /** A pool that is not closed serves one more; then all are. */
  async #end() {
    if (endOf(this.#case) === null) {
      await this.findings.isDying
      this.#stage.open('plain')
      const plain = () => this.pool.run('plain')
      const isPaused = this.#case.fate.endsWith('AtStart')
      await this.findings.follow('plain', isPaused ? untilItWorks(plain) : plain())
      // Where the one before has not left yet, who follows on one that retires is still to come.
      if (this.#case.fate === 'retired' && this.pool.workers.length === 0)
        await once(this.pool, 'workerCreate')
      this.findings.noteWorkers()
      this.findings.followClose(this.pool.close())
    }
    await this.findings.closed()
  }

  /** The subject may be settled too early, when the machine is slow. */
  async #saidBySubjectsEnd(line) {
    await Promise.race([this.#stage.said(line), this.#settled('subject')])
    // A pool that closes may have had no patience at all.
    const isImpatient = this.#verdict.subject.allowed[0] === 'timeout'
    if (this.#stage.count(line) === 0 && !isImpatient) throw new MomentMissed()
  }

  async #settled(who) {
    await this.#calls[who]?.catch(() => {})
  }
}
