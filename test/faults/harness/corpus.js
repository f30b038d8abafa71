// Finds the faults: one file each, in the folder of its section. The id of a fault is its path without `.js`.
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
     * - `title`: what a user can expect.
     * - `backends`: where the fault can happen. Inline workers run on the host's thread, so no pool can help there when a handler
     *   ends or blocks its thread or fills the memory.
     * - `limitMs`: the limit of the whole scenario.
     * - `isHeavy`: the scenario runs alone. `isLong`: it takes seconds, and the suite runs it on threads only.
     * - `run(stage)`: returns when the pool survived the fault. `subject(stage)`: the part that runs in another process.
     */
    async load(id) {
      const { default: scenario } = await import(new URL(`${id}.js`, root))
      return { backends: ['thread', 'process', 'inline'], limitMs: 40_000, ...scenario, id }
    },
  }
}
