// The host's door to time: what it tells is on the clock of `performance.now()`.
import { withoutCaller } from './async-context.js'
import { makeClock, type ThreadClock } from './make-clock.js'
import { getBuiltinModule } from './node-modules.js'

export type { Anchor, Clock, ThreadClock, Timer } from './make-clock.js'

/** `null` before a pool asks for the time: its first thread is starting then, and an import need not wait for it. */
let performance: typeof import('node:perf_hooks').performance | null = null

const nodes = makeClock(() => {
  performance ??= getBuiltinModule('node:perf_hooks').performance
  return performance.now()
})

export const realClock: ThreadClock = {
  ...nodes,
  /** One timer serves many callers, and may be set for hours. So does an anchor. */
  after: (delayMs, callback, keepsAlive) => withoutCaller(() => nodes.after(delayMs, callback, keepsAlive)),
  anchor: () => withoutCaller(nodes.anchor),
}
