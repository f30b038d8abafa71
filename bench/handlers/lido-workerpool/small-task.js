// The task of a known length as a module for lido/workerpool.
import workerpool from 'lido/workerpool'
import smallTask from '../small-task.js'

workerpool.worker({ 'small-task': smallTask })
