import workerpool from 'lido/workerpool'
import { startWorkerpool } from './start.js'

export const start = options => startWorkerpool(workerpool, 'lido-workerpool', options)
