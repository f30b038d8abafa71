// The host's door to time: what it tells is on the clock of `performance.now()`.
import { getBuiltinModule } from './builtins.js'
import { makeClock } from './make-clock.js'

export type { Anchor, Clock, ThreadClock, Timer } from './make-clock.js'

const { performance } = getBuiltinModule('node:perf_hooks')

export const realClock = makeClock(() => performance.now())
