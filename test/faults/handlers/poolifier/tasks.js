// The tasks in the form of poolifier: the default export is a worker object.
import { isMainThread } from 'node:worker_threads'
import { ClusterWorker, ThreadWorker } from 'poolifier'
import * as tasks from '../plain/tasks.js'

const Worker = isMainThread ? ClusterWorker : ThreadWorker
const { FAULT_IDLE_MS: idleMs } = process.env

export default new Worker({ ...tasks }, idleMs === undefined ? {} : { maxInactiveTime: Number(idleMs) })
