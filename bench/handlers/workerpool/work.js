// The work handler as a module for workerpool.
import workerpool from 'workerpool'
import work from '../work.js'

workerpool.worker({ work })
