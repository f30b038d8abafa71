// piscina with its default options. In scenarios about idle workers, `atomics: 'async'` lets the idle worker run its event loop.
import { Piscina } from 'piscina'
import { Unsupported } from '../harness/verdicts.js'
import { createPiscinaStyle, piscinaStyleFeatures } from './piscina-style.js'

export const packageName = 'piscina'
export const settings = { 'where idle workers matter': { atomics: 'async' } }
export const features = [...piscinaStyleFeatures, 'close']

export function open({ backend, needsIdleLoop = false, ...options }) {
  if (backend !== 'thread') throw new Unsupported('it has threads only')
  const adapted = createPiscinaStyle(options, needsIdleLoop ? { atomics: 'async' } : {}, poolOptions => {
    const pool = new Piscina(poolOptions)
    pool.on('error', () => {})
    return pool
  })
  return { ...adapted, close: () => adapted.pool.close() }
}
