// The programme of a seed: the options of a pool, the starts of its workers, and the events, in order.
import { seededRandom } from '../../src/testing/stand-ins.js'
import { pick, type Random } from './draw.js'
import { type DrawnOptions, drawOptions, type TransportChoice } from './options.js'
import { drawEvent, type Event } from './vocabulary.js'

/** How a worker starts. `blocks`: the worker reads no message. `slow` and `blocks` last until the events of the programme end. */
export type Start = 'fine' | 'slow' | 'blocks' | 'fails' | 'exits' | 'refused'

export interface Programme {
  seed: number
  options: DrawnOptions
  /** The starts of the first workers, in order. Later workers start well. */
  starts: Start[]
  events: Step[]
  end: Event
}

export interface Step {
  event: Event
  /** The next event happens in the same turn. */
  isStacked: boolean
  /** The number of moves of the threads and the host before the next event. */
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

/** The start of a first worker is never refused, because the constructor of the pool would throw. */
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
