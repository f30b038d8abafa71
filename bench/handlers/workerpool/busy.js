// The busy handler in workerpool's dialect.
import workerpool from 'workerpool'
import busy from '../busy.js'

workerpool.worker({ busy })
