// Loaded before the code of a worker. Keeps the memory that the worker shares with the host, so that a handler can damage it.
const memories = new Set()
globalThis.sharedMemories = memories
globalThis.Int32Array = new Proxy(Int32Array, {
  construct(target, args, newTarget) {
    if (args[0] instanceof SharedArrayBuffer) memories.add(args[0])
    return Reflect.construct(target, args, newTarget === globalThis.Int32Array ? target : newTarget)
  },
})
