// The states of a worker, and what users see of them.
import type { WorkerState } from '../../api/worker-view.js'
import { moveState, type StateTable } from '../../shared/platform/state-machine.js'

/**
 * - `starting`: the worker loads its file
 * - `leaving`: it was asked to accept no more tasks, and finishes the started ones
 * - `left`: it has confirmed that it accepts no more tasks
 * - `leavingEarly`, `leftEarly`: the same before its message that it is ready
 * - `stopping`: it was asked to run its teardown and to stop
 * - `cutOff`: its stop took too long, so it was asked to exit at once
 * - `killed`: it was asked to exit at once, without a teardown
 */
export type WorkerLife =
  | 'starting'
  | 'ready'
  | 'leavingEarly'
  | 'leftEarly'
  | 'leaving'
  | 'left'
  | 'stopping'
  | 'cutOff'
  | 'killed'
  | 'exited'

export const workerLives: StateTable<WorkerLife> = {
  starting: ['ready', 'leavingEarly', 'leftEarly', 'stopping', 'killed', 'exited'],
  ready: ['leaving', 'left', 'stopping', 'killed', 'exited'],
  leavingEarly: ['leftEarly', 'leaving', 'stopping', 'killed', 'exited'],
  leftEarly: ['left', 'stopping', 'killed', 'exited'],
  leaving: ['left', 'stopping', 'killed', 'exited'],
  left: ['stopping', 'killed', 'exited'],
  stopping: ['cutOff', 'killed', 'exited'],
  cutOff: ['killed', 'exited'],
  killed: ['exited'],
  exited: [],
}

/** What users see. */
export const shownStates: Record<WorkerLife, WorkerState> = {
  starting: 'spawning',
  leavingEarly: 'spawning',
  leftEarly: 'spawning',
  ready: 'ready',
  leaving: 'ready',
  left: 'ready',
  stopping: 'draining',
  cutOff: 'draining',
  killed: 'draining',
  exited: 'exited',
}

/** The state after a worker has said that it is ready. */
export const lifeOnReady: Partial<Record<WorkerLife, WorkerLife>> = {
  starting: 'ready',
  leavingEarly: 'leaving',
  leftEarly: 'left',
}

export const leavingLives: ReadonlySet<WorkerLife> = new Set(['leavingEarly', 'leftEarly', 'leaving', 'left'])

export function moveWorker(worker: { life: WorkerLife }, next: WorkerLife): void {
  const holder = { state: worker.life }
  moveState(workerLives, holder, next, 'worker')
  worker.life = next
}
