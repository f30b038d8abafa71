// Keeps the options that mean the same in every example that has them; command-line.js reads them.
import { availableParallelism } from 'node:os'

export const maxThreads = {
  kind: 'number',
  default: availableParallelism(),
  least: 1,
  most: 4096,
  help: 'workers in a pool',
}

export function secondsOfLoad({ full, small }) {
  return { kind: 'number', default: full, small, least: 0.1, isWhole: false, help: 'seconds of load a way' }
}
