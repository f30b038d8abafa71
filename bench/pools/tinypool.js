import { Tinypool } from 'tinypool'
import { startTinypool } from './start.js'

export const start = options => startTinypool(Tinypool, options)
