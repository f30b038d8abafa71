// The same work as a processor of BullMQ's sandbox.
import describePlaces from '../csv/worker.js'

export default async job => describePlaces(job.data)
