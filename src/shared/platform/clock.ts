// The clock of the host: `performance.now()`.
import { withoutCaller } from './async-context.js'
import { makeClock, type ThreadClock } from './make-clock.js'
import { getBuiltinModule } from './node-modules.js'

export { type Anchor, type Clock, dateOn, type ThreadClock, type Timer } from './make-clock.js'

/**
 * Loaded when a pool first reads the time. The first thread is then already starting, so the import of lido is fast.
 */
let performance: typeof import('node:perf_hooks').performance | null = null

const nodes = makeClock(() => {
  performance ??= getBuiltinModule('node:perf_hooks').performance
  return performance.now()
})

/** The clock of this thread. */
export const realClock: ThreadClock = {
  ...nodes,
  /** A timer or an anchor serves many callers, so it must not keep the async context of one of them. */
  after: (delayMs, callback, keepsAlive) => withoutCaller(() => nodes.after(delayMs, callback, keepsAlive)),
  anchor: () => withoutCaller(nodes.anchor),
}
