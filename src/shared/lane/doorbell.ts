// Announces the sleep of the host and of workers in shared memory, and wakes them. A bell is a message to a sleeping
// thread. A bell costs a message and a wake-up, so a thread rings only if the other side has announced its sleep. The
// sleeper looks once more after the announcement, so it misses nothing:
//
//   sleeper: announce  ->  look again  ->  sleep            poster: publish  ->  is it announced?  ->  ring
//
// The later of the two second steps sees the first step of the other side.
import { load, replace, store } from '#atomics'
import type { LaneWords } from '../platform/atomics.js'
import { HOST, type LaneLayout, REST, wordsOf } from './layout.js'

/** The worker will look into the lane without a bell: before it sleeps, or when it answers a task. */
const AWAKE = 0
/** The worker sleeps and has no task. */
const PARKED = 1
/** The worker sleeps. It has pending asynchronous tasks and a free slot. */
const PARKED_BUSY = 2
/** The host stops this worker, so the worker must claim nothing. */
const RETIRED = 3

/** The state of a worker's sleep. */
export class WorkerBell {
  readonly #words: LaneWords

  constructor(workerState: SharedArrayBuffer) {
    this.#words = wordsOf(workerState)
  }

  /** Worker: announces its sleep. The worker must look into the lane once more before it sleeps. False when retired. */
  park(holdsTasks: boolean): boolean {
    return replace(this.#words, REST, AWAKE, holdsTasks ? PARKED_BUSY : PARKED)
  }

  /** Worker: ends its sleep. Call it before looking into the lane. False when retired. */
  wake(): boolean {
    // A host that rang has already set the word to AWAKE.
    return (
      load(this.#words, REST) === AWAKE ||
      replace(this.#words, REST, PARKED, AWAKE) ||
      replace(this.#words, REST, PARKED_BUSY, AWAKE) ||
      load(this.#words, REST) === AWAKE
    )
  }

  /** Worker. */
  get isDismissed(): boolean {
    return load(this.#words, REST) === RETIRED
  }

  /** Host. */
  get isParked(): boolean {
    const rest = load(this.#words, REST)
    return rest === PARKED || rest === PARKED_BUSY
  }

  /** Host: true when the worker slept. The caller must send it a bell. The worker counts as awake from now on. */
  ring(): boolean {
    const rest = load(this.#words, REST)
    return (rest === PARKED || rest === PARKED_BUSY) && replace(this.#words, REST, rest, AWAKE)
  }

  /** Host: stops an idle worker. True when the worker slept and had no task. It will never claim a task again. */
  retire(): boolean {
    return replace(this.#words, REST, PARKED, RETIRED)
  }

  /** Host: gives the worker up in any state. The worker will not start a task that it claims after this call. */
  dismiss(): void {
    store(this.#words, REST, RETIRED)
  }
}

/** The host will read the result rings without a bell. */
const HOST_AWAKE = 0
/** The host sleeps until a bell. */
const HOST_ASLEEP = 1
/** The host will read the rings when a short timer fires. Only a worker that finds the queue empty may ring before. */
const HOST_RESTS = 2

/** The state of the host's sleep. */
export class HostBell {
  readonly #words: LaneWords
  /** Host: it announced a sleep or a rest after its last `stayAwake()`. */
  #isAnnounced = false

  constructor(lane: LaneLayout) {
    this.#words = wordsOf(lane.memory)
  }

  /** Host: announces its sleep. The host must read the rings once more before it sleeps. */
  announceSleep(): void {
    this.#isAnnounced = true
    store(this.#words, HOST, HOST_ASLEEP)
  }

  /** Host: announces a rest until a short timer fires. Only a worker that finds the queue empty rings before. */
  announceRest(): void {
    this.#isAnnounced = true
    store(this.#words, HOST, HOST_RESTS)
  }

  /** Host: it will read the rings without a bell. */
  stayAwake(): void {
    // Workers read this word after each answer. Each write takes its cache line away from them, so write it rarely.
    if (!this.#isAnnounced) return
    this.#isAnnounced = false
    store(this.#words, HOST, HOST_AWAKE)
  }

  /** Worker: true when the host sleeps. The caller must send a bell. Call it after publishing an answer. */
  ring(): boolean {
    return load(this.#words, HOST) === HOST_ASLEEP && replace(this.#words, HOST, HOST_ASLEEP, HOST_AWAKE)
  }

  /** Worker: true when the host rests. The caller must send a bell. Call it when the queue is empty. */
  ringAtRest(): boolean {
    return load(this.#words, HOST) === HOST_RESTS && replace(this.#words, HOST, HOST_RESTS, HOST_AWAKE)
  }
}
