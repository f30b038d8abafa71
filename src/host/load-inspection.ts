// Loads the parts that look into a pool. A program that uses none of them never reads their file.
import { globalSymbol } from '../shared/platform/global-symbol.js'
import { isMainThread } from '../shared/platform/host-node-modules.js'
import type { InspectedPools, ShownPool } from './inspection/inspected-pools.js'
import type { TracedPool } from './inspection/seen-workers.js'

/** The list of all copies of lido in the program. `host/inspection/inspected-pools.ts` creates it. */
const holder = globalThis as { [key: symbol]: InspectedPools | undefined }
const inspectedPools = globalSymbol('inspectedPools.1')

/** A file of its own beside `index.js`. */
export function loadInspection(): Promise<typeof import('../inspection.js')> {
  return import('../inspection.js')
}

/**
 * Shows a new pool to `npx lido top` and `npx lido trace`, if the program was started for them. `LIDO_INSPECT=1` opens a socket for the
 * process. A thread has no process id of its own, so only pools of the main thread are shown.
 */
export function inspectIfAsked(pool: ShownPool, traced: TracedPool): void {
  const pools = holder[inspectedPools]
  if (pools !== undefined) pools.add(pool, traced)
  else if (process.env.LIDO_INSPECT === '1' && isMainThread) {
    void loadInspection().then(({ openInspection }) => openInspection().add(pool, traced))
  }
}
