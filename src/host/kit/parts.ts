// What the kit takes from the host. An adapter must not bundle copies of these, because their classes must exist once.
import type { RunOptions } from '../../api/call-options.js'
import type { AdaptStart, PoolOptions } from '../../api/pool-options.js'
import { embedWorkerCode } from '../backend/worker-code.js'
import { createApi } from '../calls/api-object.js'
import { resolveClose, resolveRoom, runTable } from '../calls/call-options.js'
import { checkSource, mapTable } from '../calls/map-options.js'
import { MapRun } from '../calls/map-run.js'
import { runWrapped } from '../calls/run.js'
import { importedFile } from '../options/handler-module.js'
import { Pool } from '../pool.js'
import { engineOf } from '../pool-properties.js'
import { Rejection } from '../task/rejection.js'
import { RoomWaiters } from '../task/room-waiters.js'
import { adapterFile, embedUrl, packagesFrom } from './adapter-files.js'
import { askWorkers, figuresOf, listPools } from './figures.js'
import { adaptQueue, TaskViews } from './foreign-queue.js'
import { Problems } from './problems.js'

export const kitParts = {
  createPool(options: PoolOptions, adaptStart?: AdaptStart): Pool {
    return new (Pool as unknown as new (...given: unknown[]) => Pool)(options, adaptStart && { adaptStart })
  },

  runWrapped(pool: object, payload: unknown, options: RunOptions | undefined, wrapper: unknown) {
    return runWrapped(engineOf(Object(pool)), payload, options, wrapper)
  },

  listPools,
  figuresOf,
  askWorkers,
  embedWorkerCode,
  embedUrl,
  adapterFile,
  packagesFrom,
  importedFile,
  adaptQueue,
  TaskViews,
  Problems,
  RoomWaiters,
  createApi,
  MapRun,
  Rejection,
  runTable,
  mapTable,
  checkSource,
  resolveClose,
  resolveRoom,
} as const
