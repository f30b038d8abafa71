// The host's door to time: what it tells is on the clock of `performance.now()`.
import { makeClock } from './make-clock.js'

export type { Anchor, Clock, ThreadClock, Timer } from './make-clock.js'

const { performance } = globalThis

export const realClock = makeClock(() => performance.now())
