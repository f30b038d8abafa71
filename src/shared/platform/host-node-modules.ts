// The functions of Node's modules that only the host uses. Workers do not load this file.
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
