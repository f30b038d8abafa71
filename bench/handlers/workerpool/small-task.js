// The task of a known length as a module for workerpool.
import workerpool from 'workerpool'
import smallTask from '../small-task.js'

workerpool.worker({ 'small-task': smallTask })
