// tinypool with its default options. In scenarios about idle workers, `useAtomics: false` lets the idle worker run its event loop.
import { Tinypool } from 'tinypool'
import { Unsupported } from '../harness/verdicts.js'
import { createPiscinaStyle, piscinaStyleFeatures } from './piscina-style.js'

export const packageName = 'tinypool'
export const settings = { 'where idle workers matter': { useAtomics: false } }
export const features = [...piscinaStyleFeatures, 'processes']

export function open({ backend, needsIdleLoop = false, ...options }) {
  if (backend === 'inline') throw new Unsupported('it has no inline workers')
  const own = needsIdleLoop ? { useAtomics: false } : {}
  if (backend === 'process') Object.assign(own, { runtime: 'child_process', serialization: 'advanced' })
  return createPiscinaStyle(options, own, poolOptions => {
    const pool = new Tinypool(poolOptions)
    pool.on('error', () => {})
    return pool
  })
}
