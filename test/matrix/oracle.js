// Derives the outcomes of the tasks from the case alone. Three tasks share a pool of one worker with one slot. The case is about
// `subject`. A case with an event while the subject is queued has a `blocker` before it. `follower` is submitted after the
// subject and must not suffer from the events.
import { endOf, happensAt, moments } from './axes.js'

/**
 * The effect of an event on a task, by the place of the task. A task without an entry continues. `placed`: a starting worker has a
 * slot for the task.
 */
const befalls = {
  signal: {
    waiting: 'cancelled',
    placed: 'cancelled',
    running: 'cancelled',
    answering: 'cancelled',
    inTheRing: 'cancelled',
  },
  // A host that was busy does not reject an answered task because of a limit.
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
  // The host still reads answers in shared memory.
  destroy: {
    waiting: 'destroyed',
    placed: 'destroyed',
    running: 'destroyed',
    answering: 'destroyed',
    inTheRing: 'answer',
  },
}

/** Events of the subject, or of the worker that runs it. */
const personal = ['signal', 'limit', 'exits', 'crashes', 'terminated']

/** Outcomes in which the handler itself answers. */
const answers = ['returns', 'throws', 'throwsData', 'unclonable']

/**
 * Returns the allowed outcomes of `subject`, `blocker` (or `null`) and `follower`, and the moment at which each task settles.
 * Returns `null` when the subject would never settle.
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

/** The worker must wait while it loads its file. With a blocker the subject is queued anyway, so the worker need not wait. */
export function isHeld(theCase) {
  return happensAt(theCase, 'starting') || (happensAt(theCase, 'call') && !hasBlocker(theCase))
}

/** The subject reaches this moment. */
export function isReached(subject, moment) {
  if (moment === 'before' || moment === 'call' || moment === 'after') return true
  return moments.indexOf(moment) <= moments.indexOf(subject.at)
}

/** The handler is called. */
export function isStarted({ subject }) {
  return subject.at === 'running' || subject.at === 'answering'
}

/** The verdict depends on whether the follower has started, so the test must wait for its start. */
export function asksForFollower(theCase, moment) {
  return endOf(theCase)?.at === moment && hasFollowerStarted(theCase, moment)
}

/** The follower starts before the end of this moment of the subject, on the same worker or on another. */
function hasFollowerStarted(theCase, moment) {
  const { backend, fate } = theCase
  if (fate === 'retired') return moment === 'running' || moment === 'answering'
  if (moment !== 'answering') return false
  if (fate === 'recycled') return isOpenAfter(theCase, 'running')
  // A worker claims the next task from the lane by itself after an answer.
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
  // The task runs until `closeTimeout` is over, when a close waits for it.
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
  // A task that could run before the subject, or on another worker, may or may not finish in time.
  const couldRun = who === 'blocker' || theCase.fate === 'retired' || theCase.fate === 'recycled'
  return { allowed: couldRun ? ['answer', 'timeout'] : ['timeout'], at: 'running' }
}

/** @param isSubjectGone the subject settled earlier, so the follower is next */
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
    if (hasFollowerStarted(theCase, moment)) return 'running'
    return moment === 'running' && hasFreshWorker(theCase) ? 'placed' : 'waiting'
  }
  if (moment === 'running') return 'running'
  if (!answers.includes(theCase.outcome)) return 'never'
  // The answer of a stream is a message.
  return theCase.backend === 'lane' && theCase.way !== 'stream' ? 'inTheRing' : 'answering'
}

/** A worker that was started in this turn has a free slot. */
function hasFreshWorker({ fate }) {
  return fate === 'terminated' || fate === 'recycled'
}

/** The expected 'error' events: the death of a worker when no call rejects because of it. */
export function expectedErrors(theCase, verdict) {
  const end = endOf(theCase)
  const isAfter = moment => moments.indexOf(end.at) >= moments.indexOf(moment)
  if (theCase.fate === 'exitsIdle') return end === null ? ['exit'] : []
  const wasReported = verdict.subject.allowed[0] === 'exit' || verdict.subject.allowed[0] === 'crash'
  if (wasReported || (theCase.fate !== 'exits' && theCase.fate !== 'crashes')) return []
  if (end !== null && end.what === 'destroy' && !isAfter('answering')) return []
  return [theCase.fate === 'exits' ? 'exit' : 'crash']
}

/** The host kills the worker of a cancelled handler that does not stop, unless the worker exits anyway. */
export function endsForCancel({ backend, outcome, fate }) {
  return outcome === 'never' && backend !== 'inline' && fate !== 'exits' && fate !== 'crashes'
}

/** The first worker lives until the end of the case. */
export function keepsWorker(theCase, { subject }) {
  return theCase.fate === 'lives' && !(endsForCancel(theCase) && subject.at === 'running')
}
