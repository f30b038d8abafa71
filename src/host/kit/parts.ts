// The exports of the kit. They are in `index.js`, because their classes must exist once, and the package holds their code once.
import type { RunOptions } from '../../api/call-options.js'
import type { AdaptStart, PoolOptions } from '../../api/pool-options.js'
import { captureCarried, foreignValues, runCarried } from '../../shared/context/carried.js'
import { markPoolError } from '../../shared/errors/pool-errors.js'
import {
  deserializeError,
  ErrorClasses,
  problemWithClass,
  serializeError,
} from '../../shared/errors/serialize-error.js'
import { UnsendableError } from '../../shared/errors/uncloneable-path.js'
import { HEAD_BYTES } from '../../shared/messages/pipe-frames.js'
import { errorForProcess, packMessage } from '../../shared/messages/process-values.js'
import { unpackMessage } from '../../shared/messages/unpack-message.js'
import * as optionRules from '../../shared/options/option-rules.js'
import * as optionTable from '../../shared/options/option-table.js'
import { realClock } from '../../shared/platform/clock.js'
import { shorten } from '../../shared/platform/shorten.js'
import { within } from '../../shared/platform/within.js'
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
import { adapterFile, embedUrl, importedPackages, packagesFrom } from './adapter-files.js'
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
  importedPackages,
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
  captureCarried,
  foreignValues,
  runCarried,
  markPoolError,
  deserializeError,
  ErrorClasses,
  problemWithClass,
  serializeError,
  UnsendableError,
  HEAD_BYTES,
  errorForProcess,
  packMessage,
  unpackMessage,
  ...optionRules,
  ...optionTable,
  realClock,
  shorten,
  within,
} as const
