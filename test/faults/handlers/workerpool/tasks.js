// The tasks in workerpool's dialect: methods registered by name.
import workerpool from 'workerpool'
import * as tasks from '../plain/tasks.js'

workerpool.worker({ ...tasks })
