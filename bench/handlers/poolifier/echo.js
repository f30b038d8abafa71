// The handler in poolifier's dialect: the module's default export is a worker object.
import { ThreadWorker } from 'poolifier'

export default new ThreadWorker(payload => payload)
