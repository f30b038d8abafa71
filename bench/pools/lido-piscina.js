import { Piscina } from 'lido/piscina'
import { startPiscina } from './start.js'

export const start = options => startPiscina(Piscina, options)
