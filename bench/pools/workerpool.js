import workerpool from 'workerpool'
import { startWorkerpool } from './start.js'

export const start = options => startWorkerpool(workerpool, 'workerpool', options)
