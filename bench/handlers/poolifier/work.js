// The working handler in poolifier's dialect.
import { ThreadWorker } from 'poolifier'
import work from '../work.js'

export default new ThreadWorker(work)
