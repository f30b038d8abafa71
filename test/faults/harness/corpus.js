// The faults: one file each, in the folder of its section. A fault's id is its path without the ending.
import { readdirSync } from 'node:fs'

const root = new URL('../', import.meta.url)

export const sections = {
  'worker-death': 'Worker death',
  'load-failure': 'Load failure',
  cloning: 'Cloning',
  abort: 'Abort',
  shutdown: 'Shutdown',
  queue: 'Queue',
  leak: 'Leak',
  'event-loop': 'Event loop',
  security: 'Security',
  process: 'Process',
  resources: 'Resources',
  soak: 'Soak',
}

export function openCorpus() {
  const ids = Object.keys(sections).flatMap(section =>
    readdirSync(new URL(`${section}/`, root))
      .filter(name => name.endsWith('.js') && !name.endsWith('.test.js'))
      .sort()
      .map(name => `${section}/${name.slice(0, -'.js'.length)}`),
  )
  return {
    ids,
    /**
     * `title`: what a user deserves. `backends`: where it can happen; inline workers are the host itself, so what ends or blocks
     * a worker, or uses up its memory, is no fault of a pool there. `limitMs`: for the whole scenario. `isHeavy`: it runs alone.
     * `isLong`: it takes seconds; the suite runs it on threads only.
     * `run(stage)`: returns when the pool kept it. `subject(stage)`: what `run` has done in another process.
     */
    async load(id) {
      const { default: scenario } = await import(new URL(`${id}.js`, root))
      return { backends: ['thread', 'process', 'inline'], limitMs: 40_000, ...scenario, id }
    },
  }
}
