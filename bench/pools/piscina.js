import { Piscina } from 'piscina'
import { startPiscina } from './start.js'

export const start = options => startPiscina(Piscina, options)
