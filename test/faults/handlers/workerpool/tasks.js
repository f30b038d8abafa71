// The tasks in the form of workerpool: methods that are registered by name.
import workerpool from 'workerpool'
import * as tasks from '../plain/tasks.js'

workerpool.worker({ ...tasks })
