// The figures of pools for exporters of metrics. No reader resets them, and they stay complete while workers are replaced.
import type { PoolFigures, QuestionListener } from '../../api/figures.js'
import { fileOf } from '../calls/call-terms.js'
import { openPools } from '../engine/open-pools.js'
import type { Pool } from '../pool.js'
import { engineOf } from '../pool-properties.js'

/** The pools of this thread that are not closed, in the order of creation. */
export function listPools(): Pool[] {
  return openPools().filter(pool => engineOf(pool) !== undefined) as Pool[]
}

export function figuresOf(pool: Pool): PoolFigures {
  return engineOf(pool)!.stats.figures
}

/**
 * Calls the default export of a file in each worker, without a task. The worker answers when its event loop turns, and once more before it
 * ends as planned.
 */
export function askWorkers(
  pool: Pool,
  file: URL,
  listenerOf: (workerId: number) => QuestionListener | null,
): void {
  engineOf(pool)!.ask(fileOf(file, 'file', "argument 'file' of askWorkers()"), listenerOf)
}
