// What the host alone uses of Node's modules, taken as `builtins` takes its own: workers load none of this.
import { getBuiltinModule } from './node-modules.js'

const { EventEmitter } = getBuiltinModule('node:events')
const { availableParallelism, constants, tmpdir } = getBuiltinModule('node:os')
const { isMainThread, MessageChannel, receiveMessageOnPort, SHARE_ENV, threadId } =
  getBuiltinModule('node:worker_threads')

export {
  availableParallelism,
  constants,
  EventEmitter,
  isMainThread,
  MessageChannel,
  receiveMessageOnPort,
  SHARE_ENV,
  threadId,
  tmpdir,
}
