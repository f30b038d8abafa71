import { Tinypool } from 'lido/tinypool'
import { startTinypool } from './start.js'

export const start = options => startTinypool(Tinypool, options)
