// The busy handler as a module for poolifier.
import { ThreadWorker } from 'poolifier'
import busy from '../busy.js'

export default new ThreadWorker(busy)
