// The busy handler in poolifier's dialect.
import { ThreadWorker } from 'poolifier'
import busy from '../busy.js'

export default new ThreadWorker(busy)
