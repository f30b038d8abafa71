// The busy handler as a module for workerpool.
import workerpool from 'workerpool'
import busy from '../busy.js'

workerpool.worker({ busy })
