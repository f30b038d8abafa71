// Who sleeps, and who rings. A bell costs a message and a wake-up, so it is rung only for those who said that they sleep; and
// who says so looks once more before it does, so nothing is slept through:
//
//   sleeper: announce  ->  look again  ->  sleep            poster: publish  ->  is it announced?  ->  ring
//
// Whichever of the two second steps comes later sees the other side's first one.
import { load, replace, store } from '#atomics'
import type { SharedWords } from '../platform/atomics.js'
import { HOST, type LaneLayout, REST, wordsOf } from './layout.js'

/** It will look into the lane by itself before it sleeps, or when a task that it holds is done. */
const AWAKE = 0
/** It sleeps and holds nothing. */
const PARKED = 1
/** It sleeps with tasks that wait for something, and has room for more. */
const PARKED_BUSY = 2
/** The host ends it: it must claim nothing. */
const RETIRED = 3

/** A worker's sleep. */
export class WorkerBell {
  readonly #words: SharedWords

  constructor(workerState: SharedArrayBuffer) {
    this.#words = wordsOf(workerState)
  }

  /** Worker: it is about to sleep and must look into the lane once more. False when it is retired. */
  park(holdsTasks: boolean): boolean {
    return replace(this.#words, REST, AWAKE, holdsTasks ? PARKED_BUSY : PARKED)
  }

  /** Worker: it is about to look into the lane. False when it is retired. */
  wake(): boolean {
    // Whoever rang has set the word already.
    return (
      load(this.#words, REST) === AWAKE ||
      replace(this.#words, REST, PARKED, AWAKE) ||
      replace(this.#words, REST, PARKED_BUSY, AWAKE) ||
      load(this.#words, REST) === AWAKE
    )
  }

  /** Worker. */
  get isRetired(): boolean {
    return load(this.#words, REST) === RETIRED
  }

  /** Host. */
  get isParked(): boolean {
    const rest = load(this.#words, REST)
    return rest === PARKED || rest === PARKED_BUSY
  }

  /** Host: true when the worker sleeps and is to be sent a bell; it counts as awake from now on. */
  ring(): boolean {
    const rest = load(this.#words, REST)
    return (rest === PARKED || rest === PARKED_BUSY) && replace(this.#words, REST, rest, AWAKE)
  }

  /** Host: true when the worker slept, held nothing, and will never claim a task again. */
  retire(): boolean {
    return replace(this.#words, REST, PARKED, RETIRED)
  }

  /** Host: the worker is given up, whatever it does; what it claims after this it does not begin. */
  dismiss(): void {
    store(this.#words, REST, RETIRED)
  }
}

/** It will look into the rings by itself: at once, or, while it rests, in a moment. */
const HOST_AWAKE = 0
const HOST_ASLEEP = 1
const HOST_RESTS = 2

/** The host's sleep. */
export class HostBell {
  readonly #words: SharedWords
  /** Host: it has announced its sleep, or a rest, since it said last that it is awake. */
  #isAnnounced = false

  constructor(lane: LaneLayout) {
    this.#words = wordsOf(lane.memory)
  }

  /** Host: it is about to sleep and must look into the rings once more. */
  announceSleep(): void {
    this.#isAnnounced = true
    store(this.#words, HOST, HOST_ASLEEP)
  }

  /** Host: it looks into the rings in a moment, and is to be called before that only for a worker with nothing to do. */
  announceRest(): void {
    this.#isAnnounced = true
    store(this.#words, HOST, HOST_RESTS)
  }

  /** Host: it will look into the rings by itself. */
  stayAwake(): void {
    // Workers read the word after each answer: writing it takes it from them.
    if (!this.#isAnnounced) return
    this.#isAnnounced = false
    store(this.#words, HOST, HOST_AWAKE)
  }

  /** Worker, after publishing: true when the host sleeps and is to be sent a bell. */
  ring(): boolean {
    return load(this.#words, HOST) === HOST_ASLEEP && replace(this.#words, HOST, HOST_ASLEEP, HOST_AWAKE)
  }

  /** Worker with nothing left to do: true when the host rests and is to be sent a bell. */
  ringAtRest(): boolean {
    return load(this.#words, HOST) === HOST_RESTS && replace(this.#words, HOST, HOST_RESTS, HOST_AWAKE)
  }
}
