// What the tasks of a case must come to, from the case alone. Three tasks share a pool of one worker with one slot: `blocker`,
// there where something is to happen while the subject is queued; `subject`, which the case is about; `follower`, which came
// after it and is innocent.
import { endOf, happensAt, moments } from './axes.js'

/**
 * What befalls a task by where it is when something happens; where nothing is said, it goes on. `placed`: a worker that is
 * starting has a slot for it.
 */
const befalls = {
  signal: {
    waiting: 'cancelled',
    placed: 'cancelled',
    running: 'cancelled',
    answering: 'cancelled',
    inTheRing: 'cancelled',
  },
  // No host that was busy rejects what has been answered.
  limit: { waiting: 'limit', placed: 'limit', running: 'limit' },
  throwsAtStart: { waiting: 'start', placed: 'start' },
  exitsAtStart: { waiting: 'start', placed: 'start' },
  exits: { running: 'exit' },
  crashes: { running: 'crash' },
  terminated: { running: 'terminated' },
  recycled: {},
  exitsIdle: {},
  close: {},
  force: { waiting: 'forced' },
  // What has been answered into shared memory is there.
  destroy: {
    waiting: 'destroyed',
    placed: 'destroyed',
    running: 'destroyed',
    answering: 'destroyed',
    inTheRing: 'answer',
  },
}

/** These befall the subject, or the worker that it runs on. */
const personal = ['signal', 'limit', 'exits', 'crashes', 'terminated']

/** Answers that a handler gives by itself. */
const answers = ['returns', 'throws', 'throwsData', 'unclonable']

/**
 * `subject`, `blocker` (or null), `follower`: the outcomes allowed, and the moment at which the task is settled. `null` where
 * the subject would never be settled.
 */
export function verdictOf(theCase) {
  const subject = subjectVerdict(theCase)
  if (subject === null) return null
  const blocker = hasBlocker(theCase) ? innocentVerdict(theCase, 'blocker', subject) : null
  const follower = innocentVerdict(theCase, 'follower', subject)
  return { subject, blocker, follower }
}

export function hasBlocker(theCase) {
  return happensAt(theCase, 'queued')
}

/** The worker is held while it loads. With a blocker a task waits in the turn of the call, however quick the worker. */
export function isHeld(theCase) {
  return happensAt(theCase, 'starting') || (happensAt(theCase, 'call') && !hasBlocker(theCase))
}

/** The subject comes to this moment, in one way or another. */
export function isReached(subject, moment) {
  if (moment === 'before' || moment === 'call' || moment === 'after') return true
  return moments.indexOf(moment) <= moments.indexOf(subject.at)
}

/** The handler is called. */
export function isBegun({ subject }) {
  return subject.at === 'running' || subject.at === 'answering'
}

/** Something depends on whether the follower has begun, so that is to be forced. */
export function asksForFollower(theCase, moment) {
  return endOf(theCase)?.at === moment && hasFollowerBegun(theCase, moment)
}

/** The follower begins before the subject is through with this moment, on the same worker or on another. */
function hasFollowerBegun(theCase, moment) {
  const { backend, fate } = theCase
  if (fate === 'retired') return moment === 'running' || moment === 'answering'
  if (moment !== 'answering') return false
  if (fate === 'recycled') return isOpenAfter(theCase, 'running')
  // A worker takes the next from the lane by itself, when it has answered.
  return backend === 'lane'
}

function isOpenAfter(theCase, moment) {
  const end = endOf(theCase)
  return end === null || moments.indexOf(end.at) > moments.indexOf(moment)
}

function subjectVerdict(theCase) {
  for (const { what, at } of theCase.happenings) {
    const outcome = befalls[what][whereIs(theCase, 'subject', at, false)]
    if (outcome !== undefined) return { allowed: [outcome], at }
  }
  if (answers.includes(theCase.outcome)) return { allowed: ['answer'], at: 'answering' }
  // It runs until the pool's patience is over, and a close that waits for it has some.
  const end = endOf(theCase)
  return end === null || end.at === 'after' ? null : { allowed: ['timeout'], at: 'running' }
}

function innocentVerdict(theCase, who, subject) {
  let isSubjectGone = subject.at === 'before'
  for (const { what, at } of theCase.happenings) {
    if (personal.includes(what)) {
      isSubjectGone ||= subject.at === at
      continue
    }
    const outcome = befalls[what][whereIs(theCase, who, at, isSubjectGone)]
    if (outcome !== undefined) return { allowed: [outcome], at }
  }
  if (subject.allowed[0] !== 'timeout') return { allowed: ['answer'], at: 'after' }
  // The clock says whether a task that could have run beside the subject, or before it, was done in time.
  const couldRun = who === 'blocker' || theCase.fate === 'retired' || theCase.fate === 'recycled'
  return { allowed: couldRun ? ['answer', 'timeout'] : ['timeout'], at: 'running' }
}

/** @param isSubjectGone the subject has been settled before, so who came after it is next */
function whereIs(theCase, who, moment, isSubjectGone) {
  if (moment === 'before') return 'waiting'
  if (moment === 'call' || moment === 'starting') {
    const first = hasBlocker(theCase) ? 'blocker' : isSubjectGone ? 'follower' : 'subject'
    return who === first ? 'placed' : 'waiting'
  }
  if (who === 'blocker') return moment === 'queued' ? 'running' : 'after'
  if (moment === 'queued') return 'waiting'
  if (moment === 'after') return 'after'
  if (who === 'follower') {
    if (hasFollowerBegun(theCase, moment)) return 'running'
    return moment === 'running' && hasFreshWorker(theCase) ? 'placed' : 'waiting'
  }
  if (moment === 'running') return 'running'
  if (!answers.includes(theCase.outcome)) return 'never'
  return theCase.backend === 'lane' ? 'inTheRing' : 'answering'
}

/** The slot of a worker that was started in this turn counts. */
function hasFreshWorker({ fate }) {
  return fate === 'terminated' || fate === 'recycled'
}

/** `error` events: a death that no caller was told of is told so. */
export function errorsTold(theCase, verdict) {
  const end = endOf(theCase)
  const isAfter = moment => moments.indexOf(end.at) >= moments.indexOf(moment)
  if (theCase.fate === 'exitsIdle') return end === null ? ['exit'] : []
  const wasTold = verdict.subject.allowed[0] === 'exit' || verdict.subject.allowed[0] === 'crash'
  if (wasTold || (theCase.fate !== 'exits' && theCase.fate !== 'crashes')) return []
  if (end !== null && end.what === 'destroy' && !isAfter('answering')) return []
  return [theCase.fate === 'exits' ? 'exit' : 'crash']
}

/** Who does not heed that he is cancelled costs the worker, unless it is about to end anyway. */
export function endsForCancel({ backend, outcome, fate }) {
  return outcome === 'never' && backend !== 'inline' && fate !== 'exits' && fate !== 'crashes'
}

/** The first worker serves to the end: whoever is cancelled is let end, and costs no worker. */
export function keepsWorker(theCase, { subject }) {
  return theCase.fate === 'lives' && !(endsForCancel(theCase) && subject.at === 'running')
}
