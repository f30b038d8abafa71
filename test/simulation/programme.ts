// What a seed stands for: a pool's options, how its workers start, and what happens to it, in order.
import { seededRandom } from '../../src/testing/stand-ins.js'
import { pick, type Random } from './draw.js'
import { type DrawnOptions, drawOptions, type TransportChoice } from './options.js'
import { drawEvent, type Event } from './vocabulary.js'

/** How a worker starts. `blocks`: it hears nothing, not even that it is to end. `slow`, `blocks`: until all is calm. */
export type Start = 'fine' | 'slow' | 'blocks' | 'fails' | 'exits' | 'refused'

export interface Programme {
  seed: number
  options: DrawnOptions
  /** Of the first workers, in order; those after them start fine. */
  starts: Start[]
  events: Step[]
  end: Event
}

export interface Step {
  event: Event
  /** The next event comes in the same turn. */
  isStacked: boolean
  /** So many moves of the threads and the host until the next event. */
  moves: number
}

const MOST_EVENTS = 40
const MOST_STARTS = 12

export function drawProgramme(seed: number, transport: TransportChoice = 'any'): Programme {
  const random = seededRandom(seed)
  const options = drawOptions(random, transport)
  const troubled = random(3) === 0
  const starts = Array.from({ length: MOST_STARTS }, (_, index) =>
    troubled ? drawStart(random, index < options.minWorkers) : 'fine',
  )
  const events = Array.from({ length: 4 + random(MOST_EVENTS - 3) }, () => drawStep(random))
  return { seed, options, starts, events, end: drawEvent(random, 'end') }
}

/** A pool whose first workers cannot be had throws when it is made. */
function drawStart(random: Random, isFirst: boolean): Start {
  const refused = isFirst ? 0 : 1
  return pick(random, { fine: 6, slow: 2, blocks: 1, fails: 1, exits: 1, refused })
}

function drawStep(random: Random): Step {
  return {
    event: drawEvent(random, 'event'),
    isStacked: random(4) === 0,
    moves: random(3) === 0 ? random(16) : random(4),
  }
}
