// The entry point `lido/kit`: what an adapter may use beside `lido`. An adapter gives the workers of lido another interface, or gives
// the interface of lido to something else.
import { kitParts } from './index.js'

export const {
  createPool,
  runWrapped,
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
} = kitParts

export { markPoolError } from './shared/errors/pool-errors.js'
// Values and errors that cross to another process or machine.
export {
  deserializeError,
  ErrorClasses,
  problemWithClass,
  type SerializedError,
  serializeError,
} from './shared/errors/serialize-error.js'
export { UnsendableError } from './shared/errors/uncloneable-path.js'
export { HEAD_BYTES } from './shared/messages/pipe-frames.js'
export { errorForProcess, packMessage } from './shared/messages/process-values.js'
export { unpackMessage } from './shared/messages/unpack-message.js'
// Options.
export * from './shared/options/option-rules.js'
export * from './shared/options/option-table.js'
// Time.
export { realClock, type Timer } from './shared/platform/clock.js'
export { within } from './shared/platform/within.js'
