// `pool.map()`: a map whose items are tasks of the engine.
import type { MapOptions } from '../../api/call-options.js'
import type { PublicFunction } from '../../shared/errors/pool-errors.js'
import type { Engine } from '../engine/engine.js'
import type { Task } from '../task/task.js'
import { callOf, termsOf } from './call-terms.js'
import { forCaller } from './caller-stack.js'
import { withProgress } from './exchange.js'
import { checkSource, readMap } from './map-options.js'
import { MapRun } from './map-run.js'

/** The map of one call. Throws `InvalidTaskError`. */
export function mapOf(
  engine: Engine,
  source: Iterable<unknown> | AsyncIterable<unknown>,
  options: MapOptions<never> | undefined,
  entry: PublicFunction,
): MapRun<any, Task> {
  checkSource(source)
  const { settings, callOptions } = readMap(options)
  const terms = engine.inContext(termsOf(callOptions, engine.settings))
  return new MapRun(source, settings, {
    clock: engine.clock,
    slots: engine.slots,
    hasQueueLimit: Number.isFinite(engine.settings.maxQueue),
    room: () => engine.room(null),
    submit: (payload, settle, onProgress) => {
      const own =
        onProgress === null ? terms : { ...terms, exchange: withProgress(terms.exchange, onProgress) }
      return forCaller(entry, () => engine.submit(callOf(payload, own), settle))
    },
    cancel: (task, error) => engine.cancel(task, error),
  })
}
