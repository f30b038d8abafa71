// The parts of a pool from which an adapter builds another pool. An adapter must not bundle copies of them, because their classes
// must exist once.

import { createApi } from './calls/api.js'
import { resolveClose, resolveRoom, runTable } from './calls/call-options.js'
import { MapRun } from './calls/map.js'
import { checkSource, mapTable } from './calls/map-options.js'
import { Refusal } from './task/refusal.js'
import { startOf } from './workers/worker-view.js'

/** @internal */
export const forAdapters = {
  Refusal,
  startOf,
  createApi,
  resolveClose,
  resolveRoom,
  runTable,
  checkSource,
  MapRun,
  mapTable,
} as const
