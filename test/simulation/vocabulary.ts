// The events of a programme. Each entry has a probability, a draw of its data, and an action. Events of the kind `reaction` may also
// happen inside the pool's own work: in a getter of a payload, in a listener, or when a call settles.
import type { TimeLimit } from '../../src/shared/errors/pool-errors.js'
import type { Death, Fate, HandlerName, KeyPlan, PayloadKind, RetryPlan } from './call.js'
import { oneOf, pick, type Random } from './draw.js'
import type { ExchangePlan } from './exchange.js'
import type { World } from './world.js'

export interface Event {
  readonly word: string
  readonly given: unknown
}

type Place = 'event' | 'reaction' | 'end'

interface Word<Given> {
  /** The probability of the event in each place where it may happen. */
  weights: Partial<Record<Place, number>>
  draw(random: Random, depth: number): Given
  act(world: World, given: Given): void
}

export interface Submission {
  payload: PayloadKind
  fate: Fate
  death: Death
  isQuick: boolean
  /** `null` for a payload that is moved. */
  retry: RetryPlan | null
  handler: HandlerName
  exchange: ExchangePlan
  priority: number
  /** `shared`: all such calls of the programme have the same signal. */
  signal: 'none' | 'own' | 'shared'
  isExclusive: boolean
  key: KeyPlan
  /** The time limit of the call, if any. */
  limit: 'none' | TimeLimit
  /** The actions of the user's code in a getter of the payload, and when the call settles. */
  inGetter: Event | null
  whenSettled: Event | null
}

const listened = ['drain', 'needsDrain', 'workerCreate', 'workerDestroy', 'error', 'close'] as const

const words = {
  submit: {
    weights: { event: 40, reaction: 4 },
    draw: (random, depth): Submission => ({
      payload: pick(random, {
        int: 8,
        object: 6,
        large: 1,
        declined: 2,
        transferred: 2,
        uncloneable: 1,
        unreadable: 1,
        getter: depth === 0 ? 2 : 0,
      }),
      fate: pick(random, {
        int: 8,
        object: 4,
        moved: 2,
        sizable: 1,
        throws: 2,
        uncloneable: 1,
        unreadable: 1,
        dies: 2,
        late: 2,
        never: 1,
        reports: 2,
        calls: 3,
        streams: 3,
      }),
      death: drawDeath(random),
      isQuick: random(2) === 0,
      retry: random(4) === 0 ? drawRetry(random) : null,
      handler: pick(random, { default: 20, other: 4, missing: 1, broken: 1 }),
      exchange: drawExchange(random, depth),
      priority: random(3),
      signal: pick(random, { none: 6, own: 2, shared: 1 }),
      isExclusive: random(8) === 0,
      limit: pick(random, { none: 12, timeout: 1, queueTimeout: 1, deadline: 1 }),
      inGetter: drawReaction(random, depth, 1),
      whenSettled: drawReaction(random, depth, 8),
      key: pick(random, { none: 5, a: 2, b: 1, c: 1, loose: 1 }),
    }),
    act: (world, given) => void world.submit(given),
  } satisfies Word<Submission>,

  abort: {
    weights: { event: 8, reaction: 2 },
    draw: random => random(2 ** 16),
    act: (world, which) => world.abort(which),
  } satisfies Word<number>,

  /** A worker dies by itself, at once or after a number of accesses to shared words. */
  kill: {
    weights: { event: 5 },
    draw: random => ({
      who: oneOf(random, ['any', 'loading', 'idle', 'running', 'retired'] as const),
      which: random(16),
      after: random(2) === 0 ? 0 : random(12),
      death: drawDeath(random),
    }),
    act: (world, given) => world.kill(given),
  } satisfies Word<Killing>,

  terminate: {
    weights: { event: 2, reaction: 1 },
    draw: random => random(16),
    act: (world, which) => world.terminateWorker(which),
  } satisfies Word<number>,

  wait: {
    weights: { event: 8 },
    draw: random => oneOf(random, [0, 1, 5, 20, 100, 250, 1000]),
    act: (world, milliseconds) => world.wait(milliseconds),
  } satisfies Word<number>,

  room: {
    weights: { event: 4, reaction: 1 },
    draw: random => ({ hasSignal: random(3) === 0, submits: random(2) === 0 }),
    act: (world, given) => world.awaitRoom(given),
  } satisfies Word<{ hasSignal: boolean; submits: boolean }>,

  listen: {
    weights: { event: 2 },
    draw: (random, depth) => ({ name: oneOf(random, listened), reaction: drawReaction(random, depth, 1) }),
    act: (world, given) => world.listen(given.name, given.reaction),
  } satisfies Word<{ name: (typeof listened)[number]; reaction: Event | null }>,

  recycle: {
    weights: { event: 2, reaction: 1 },
    draw: () => null,
    act: world => world.renewals.ask('recycle'),
  } satisfies Word<null>,

  reload: {
    weights: { event: 1, reaction: 1 },
    draw: () => null,
    act: world => world.renewals.ask('reload'),
  } satisfies Word<null>,

  close: {
    weights: { event: 1, reaction: 1, end: 4 },
    draw: () => null,
    act: world => world.close('close'),
  } satisfies Word<null>,

  forcedClose: {
    weights: { event: 1, reaction: 1, end: 1 },
    draw: () => null,
    act: world => world.close('force'),
  } satisfies Word<null>,

  destroy: {
    weights: { event: 1, reaction: 1, end: 3 },
    draw: () => null,
    act: world => world.close('destroy'),
  } satisfies Word<null>,
}

export interface Killing {
  who: 'any' | 'loading' | 'idle' | 'running' | 'retired'
  which: number
  after: number
  death: Death
}

const weightsAt: Record<Place, Record<string, number>> = {
  event: weightsOf('event'),
  reaction: weightsOf('reaction'),
  end: weightsOf('end'),
}

function weightsOf(place: Place): Record<string, number> {
  const named = Object.entries(words as Record<string, Word<unknown>>)
  return Object.fromEntries(named.map(([name, { weights }]) => [name, weights[place] ?? 0]))
}

export function drawEvent(random: Random, place: Place, depth = 0): Event {
  const word = pick(random, weightsAt[place])
  return { word, given: wordOf(word).draw(random, depth) }
}

export function act(world: World, { word, given }: Event): void {
  wordOf(word).act(world, given)
}

function wordOf(name: string): Word<unknown> {
  return (words as unknown as Record<string, Word<unknown>>)[name]!
}

/** Draws a reaction once in `oneIn` times. A reaction contains no other reaction. */
function drawReaction(random: Random, depth: number, oneIn: number): Event | null {
  return depth > 0 || random(oneIn) > 0 ? null : drawEvent(random, 'reaction', depth + 1)
}

/** A function may run a task whose handler calls a function that runs a task, and so on, down to this depth. */
const MAX_DEPTH = 3

function drawExchange(random: Random, depth: number): ExchangePlan {
  const lookUp = pick(random, { atOnce: 2, later: 4, throws: 1, runs: depth < MAX_DEPTH ? 4 : 0 })
  return {
    reports: 1 + random(4),
    lookUps: 1 + random(2),
    lookUp,
    nested: lookUp === 'runs' ? words.submit.draw(random, depth + 1) : null,
    isHasty: random(6) === 0,
    highWaterMark: oneOf(random, [1, 2, 16]),
    isGrouped: random(2) === 0,
    stopsEarly: random(4) === 0,
    throws: random(6) === 0,
    inCallback: drawReaction(random, depth, 6),
  }
}

function drawRetry(random: Random): RetryPlan {
  const when = pick(random, { unsaid: 3, yes: 3, no: 1, throws: 1 })
  return { attempts: 1 + random(3), when, isCured: random(2) === 0 }
}

function drawDeath(random: Random): Death {
  return { exitCode: random(4), with: pick(random, { nothing: 3, error: 2, memory: 1 }) }
}
