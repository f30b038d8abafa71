// The parts of a pool from which an adapter builds another pool. An adapter must not bundle copies of them, because their classes
// must exist once.
import { Refusal } from '../task/refusal.js'
import { startOf } from '../workers/worker-view.js'
import { createApi } from './api.js'
import { resolveClose, resolveRoom, runTable } from './call-options.js'
import { checkSource, mapTable } from './map-options.js'

/** @internal */
export const forAdapters = {
  Refusal,
  startOf,
  createApi,
  resolveClose,
  resolveRoom,
  runTable,
  checkSource,
  mapTable,
} as const
