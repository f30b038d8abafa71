// Options that have the same meaning in several examples. command-line.js reads them.
import { availableParallelism } from 'node:os'

export const maxWorkers = {
  kind: 'number',
  default: availableParallelism(),
  least: 1,
  most: 4096,
  help: 'workers in a pool',
}

export function secondsOfLoad({ full, small }) {
  return {
    kind: 'number',
    default: full,
    small,
    least: 0.1,
    most: 3600,
    isWhole: false,
    help: 'seconds of load for each way',
  }
}

export function tasksPerWorker(usual) {
  return {
    kind: 'number',
    default: usual,
    least: 1,
    most: 65_536,
    help: 'tasks that a worker runs at a time',
  }
}
