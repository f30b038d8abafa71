// The working handler in workerpool's dialect.
import workerpool from 'workerpool'
import work from '../work.js'

workerpool.worker({ work })
