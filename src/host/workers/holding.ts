// What a worker holds, as the host knows it: where tasks come by the port the host itself keeps count, where they come by
// the lane the worker does.
import type { RoadOrder } from '../../shared/messages/messages.js'
import type { Task } from '../task/task.js'

export interface Holding {
  /** Tasks that it has and has not answered. */
  readonly usage: number
  /** It has a task that must be the only one. */
  readonly isExclusive: boolean
  /** The tasks, in the order in which they came. */
  tasks(): Task[]
  hasBegun(task: Task): boolean
  /** There is a core to spare for looking out, or there is none. */
  allowSpin(isAllowed: boolean): void
  /** True when it holds nothing and never will again. */
  retire(): boolean
  /** It holds nothing, and nothing is on its way to it or from it. */
  readonly isEmpty: boolean
  /** The worker is given up: it must take nothing more. */
  dismiss(): void
  /** What the worker is told of the road by which its tasks come. */
  order(): RoadOrder
}

/** Makes what each new worker holds its tasks in. */
export type MakeHolding = (workerId: number) => Holding
