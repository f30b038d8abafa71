// The work handler as a module for poolifier.
import { ThreadWorker } from 'poolifier'
import work from '../work.js'

export default new ThreadWorker(work)
