// The kit in TypeScript: an adapter names the classes as types.
import type { PoolError, QueuedTask } from 'lido'
import {
  type AdaptStart,
  adaptQueue,
  createPool,
  type ForeignQueue,
  MapRun,
  type MapRunner,
  type MapSettings,
  Problems,
  Rejection,
  runWrapped,
  TaskViews,
} from 'lido/kit'
import { isTrue, type Same } from './checks.mjs'

interface View {
  name: string
}
export const views: TaskViews<View> = new TaskViews((task: QueuedTask) => ({ name: task.name }))
const stack: View[] = []
const members: ForeignQueue<View> = {
  size: () => stack.length,
  push: view => stack.push(view),
  take: () => stack.pop(),
}
const adaptStart: AdaptStart = (workerOptions, workerId) => ({ ...workerOptions, workerData: { workerId } })
export const pool = createPool({ filename: '/work.js', queue: adaptQueue(members, views) }, adaptStart)
export const plain = createPool({ filename: '/work.js' })

export const result = runWrapped<number>(pool, 1, {}, new URL('./wrapper.js', import.meta.url))
isTrue<Same<typeof result, Promise<number>>>()

export const isRejection = (answer: Rejection): boolean => answer instanceof Rejection
export type Runner = MapRunner<{ cancel(error: PoolError): void }>
export type Run = MapRun<string, number>
export type Settings = MapSettings
export const tell = (problems: Problems): void => problems.tell(new Error())
export const { name } = Problems
export const { length } = MapRun
