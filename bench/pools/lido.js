import * as lido from 'lido'
import { startLido } from './start.js'

export const start = options => startLido(lido, options)
