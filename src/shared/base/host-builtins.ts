// What the host alone uses of Node's modules, taken as `builtins` takes its own: workers load none of this.

const { EventEmitter } = process.getBuiltinModule('node:events')
const { availableParallelism, constants, tmpdir } = process.getBuiltinModule('node:os')
const { isMainThread, MessageChannel, receiveMessageOnPort, SHARE_ENV, threadId } =
  process.getBuiltinModule('node:worker_threads')

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
