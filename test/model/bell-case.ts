// A case for a worker's bell. The queue is only two counts. Timers and messages call the worker too. The worker holds started
// tasks until a later turn, or never finishes them. The host retires or dismisses the worker at any time.
import { load, replace, store } from '#atomics'
import { WorkerBell } from '../../src/shared/lane/doorbell.js'
import { createLane, createWorkerState, HEAD, REST, TAIL, wordsOf } from '../../src/shared/lane/layout.js'
import type { Findings } from './explorer.js'
import type { Self } from './history.js'
import type { Note } from './operation.js'
import { explorePair } from './pair-case.js'
import type { Rules } from './rules.js'
import { type State, StateRow } from './state.js'
import { World } from './world.js'

const RETIRED = 1
const DISMISSED = 2

interface Memory {
  lane: SharedArrayBuffer
  state: SharedArrayBuffer
}

type Acts = Map<string, () => void>

export function checkBell(): Findings {
  let memory: Memory
  const host = (self: Self) => {
    memory = { lane: createLane(1).memory, state: createWorkerState().memory }
    runHost(self, memory)
  }
  const world = new World([host, self => runWorker(self, memory)])
  const row = new StateRow(2, 1, 64)
  return explorePair(world, row, new BellRules(world, row))
}

function runHost(self: Self, { lane, state }: Memory): void {
  const words = wordsOf(lane)
  const bell = new WorkerBell(state)
  let offers = 0
  let isForAnother = false
  let isEnding = false
  const offer = (isRung: boolean) => {
    isForAnother = !isRung
    store(words, TAIL, ++offers)
    if (isRung && bell.ring()) self.post(1, 'bell')
  }
  const retire = () => {
    isEnding = bell.retire()
    if (isEnding) self.note({ kind: 'retired' })
  }
  const dismiss = () => {
    isEnding = true
    bell.dismiss()
    self.note({ kind: 'dismissed' })
  }
  const acts: Acts = new Map([
    ['offers a task while another worker is awake', () => offer(false)],
    ['offers a task', () => offer(true)],
    ['tries to retire the worker', retire],
    ['dismisses the worker', dismiss],
    ['does nothing more', () => acts.clear()],
  ])
  self.onQuiet(() => {
    if (isEnding) return []
    const isLeft = load(words, HEAD) !== load(words, TAIL)
    if (isLeft && !isForAnother) return ['a task stays offered while the worker sleeps']
    return load(wordsOf(state), REST) === 0
      ? ['the worker sleeps, but its shared state says that it is awake']
      : []
  })
  self.start(1)
  while (!isEnding && acts.size > 0) takeOne(self, acts)
  self.next([])
}

function runWorker(self: Self, { lane, state }: Memory): void {
  const words = wordsOf(lane)
  const bell = new WorkerBell(state)
  let held = 0
  let isEndless = false
  const claim = () => {
    for (;;) {
      const head = load(words, HEAD)
      if (head === load(words, TAIL)) return false
      if (replace(words, HEAD, head, head + 1)) return true
    }
  }
  const drain = () => {
    if (!bell.wake()) return
    for (;;) {
      while (claim()) {
        if (bell.isDismissed) return
        held++
        self.note({ kind: 'started', task: held })
      }
      if (!bell.park(held > 0)) return
      if (load(words, HEAD) === load(words, TAIL) || !bell.wake()) return
    }
  }
  const beDone = () => {
    held = 0
    self.note({ kind: 'idle' })
    drain()
  }
  const stayBusy = () => {
    isEndless = true
  }
  const acts: Acts = new Map([
    // A timer, a task by message or a late bell calls the worker.
    ['is called without a bell', drain],
    ['never finishes its handlers', stayBusy],
  ])
  drain()
  for (;;) {
    if (held > 0 && !isEndless) acts.set('finishes its handlers', beDone)
    else acts.delete('finishes its handlers')
    takeOne(self, acts, drain)
  }
}

/** Performs one of the remaining acts, or handles a message. */
function takeOne(self: Self, acts: Acts, onMessage = () => {}): void {
  const names = [...acts.keys()]
  const event = self.next(names)
  if (event.kind !== 'own') return onMessage()
  const name = names[event.index]!
  const act = acts.get(name)!
  acts.delete(name)
  act()
}

class BellRules implements Rules {
  readonly #world: World
  /** The places in a state: how the host stops the worker, how many tasks the worker holds, and whether it claimed too late. */
  readonly #farewell: number
  readonly #held: number
  readonly #isLate: number

  constructor(world: World, row: StateRow) {
    this.#world = world
    this.#farewell = row.startedBy(0)
    this.#held = row.settledAs(0)
    this.#isLate = row.lateClaims
  }

  onWrite(state: State, cell: number): string | null {
    const { memory, index } = this.#world.cells[cell]!
    if (memory !== 0 || index !== HEAD) return null
    if (state[this.#farewell] === RETIRED) return 'the worker claims a task after it was retired'
    state[this.#isLate] = state[this.#farewell] === DISMISSED ? 1 : 0
    return null
  }

  onPost(): null {
    return null
  }

  onNote(state: State, _thread: number, { kind }: Note): string | null {
    switch (kind) {
      case 'started':
        state[this.#held]!++
        return state[this.#isLate] === 1
          ? 'the worker starts a task that it claimed after it was dismissed'
          : null
      case 'idle':
        state[this.#held] = 0
        return null
      case 'retired':
        state[this.#farewell] = RETIRED
        return state[this.#held] === 0 ? null : 'the worker is retired with a task'
      case 'dismissed':
        state[this.#farewell] = DISMISSED
        return null
      default:
        return `unexpected note: ${kind}`
    }
  }
}
