// The end that the host has planned: the modules' teardowns, then what was printed, then nothing: timers, servers and
// sockets of a module do not keep the thread. The host bounds how long it takes.
import type { MessagePort } from 'node:worker_threads'
import { pack } from '../shared/errors/remote-error.js'
import type { ToHost } from '../shared/protocol/messages.js'
import { teardowns } from './handler-loader.js'
import { flushStdio } from './stdio-flush.js'

// A handler's module may put another in its place.
const exit = process.exit.bind(process)

export async function endAsPlanned(port: MessagePort): Promise<void> {
  await Promise.all(
    teardowns.map(async teardown => {
      try {
        await teardown()
      } catch (thrown) {
        port.postMessage({ kind: 'teardownFailed', error: pack(thrown) } satisfies ToHost)
      }
    }),
  )
  await flushStdio()
  exit(0)
}
