// The echo handler for poolifier, which expects a worker object as the default export.
import { ThreadWorker } from 'poolifier'

export default new ThreadWorker(payload => payload)
