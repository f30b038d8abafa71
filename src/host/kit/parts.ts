// What the kit takes from the host. An adapter must not bundle copies of these, because their classes must exist once.
import type { RunOptions } from '../../api/call-options.js'
import type { AdaptStart, PoolOptions } from '../../api/pool-options.js'
import { createApi } from '../calls/api-object.js'
import { resolveClose, resolveRoom, runTable } from '../calls/call-options.js'
import { checkSource, mapTable } from '../calls/map-options.js'
import { MapRun } from '../calls/map-run.js'
import { runWrapped } from '../calls/run.js'
import { Pool } from '../pool.js'
import { engineOf } from '../pool-properties.js'
import { Rejection } from '../task/rejection.js'
import { RoomWaiters } from '../task/room-waiters.js'
import { adaptQueue, TaskViews } from './foreign-queue.js'
import { Problems } from './problems.js'

export const kitParts = {
  /**
   * As `new Pool(options)`.
   * @param adaptStart called before the pool starts a worker; returns the options for its start
   */
  createPool(options: PoolOptions, adaptStart: AdaptStart): Pool {
    return new (Pool as unknown as new (...given: unknown[]) => Pool)(options, { adaptStart })
  },

  /**
   * As `pool.run()`. The worker calls the function that the wrapper makes of the handler.
   * @param wrapper the absolute path of a module that exports `wrap(handler)`
   */
  runWrapped(pool: object, payload: unknown, options: RunOptions, wrapper: string): Promise<unknown> {
    return runWrapped(engineOf(pool), payload, options, wrapper)
  },

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
