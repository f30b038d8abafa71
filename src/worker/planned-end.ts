// The end that the host has planned: the modules' teardowns, then what was printed, then nothing: timers, servers and
// sockets of a module do not keep the worker. The host bounds how long it takes.
import { serializeError } from '../shared/errors/serialize-error.js'
import type { Modules } from './modules.js'
import type { Place } from './place.js'
import { LONGEST_WAIT_AT_END_MS } from './stdio-flush.js'

export async function endAsPlanned(place: Place, modules: Modules): Promise<void> {
  await Promise.all(
    modules.takeDown().map(async teardown => {
      try {
        await teardown()
      } catch (thrown) {
        place.port.postMessage({ kind: 'teardownFailed', error: serializeError(thrown) })
      }
    }),
  )
  await place.flush(LONGEST_WAIT_AT_END_MS)
  place.end(0)
}
