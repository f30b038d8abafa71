// Packs the items of a map into tasks, so that the host's work for a task is small beside the run times of its items. A worker answers
// each item by itself. Items that no worker has started when their pack ends are sent again.

import {
  NotCloneableError,
  type PoolError,
  type PublicFunction,
  QueueFullError,
  WorkerExitError,
  WorkerMemoryError,
  WorkerStartError,
} from '../../shared/errors/pool-errors.js'
import { deserializeError } from '../../shared/errors/serialize-error.js'
import { isMoved } from '../../shared/messages/moved.js'
import { AsyncContext } from '../../shared/platform/async-context.js'
import type { Clock } from '../../shared/platform/clock.js'
import { inMicrotask } from '../../shared/platform/microtask.js'
import type { Engine } from '../engine/engine.js'
import type { Call, CallTerms, ItemsListener } from '../task/call.js'
import { Rejection } from '../task/rejection.js'
import type { Task } from '../task/task.js'
import { TracedTasks } from '../task/traced-tasks.js'
import { callOf } from './call-terms.js'
import { forCaller } from './caller-stack.js'
import type { ItemSettings, MapSettings } from './map-options.js'
import { lengthOf, type MapRunner, type SubmittedItem } from './map-run.js'
import { PackSize } from './pack-size.js'
import { snapshotOf, UNFIT } from './snapshot.js'

type ItemFailure = Parameters<ItemsListener['onItemFailed']>[0]

/** An automatic pack ends after this time, so that an item that runs long does not hold back the others. */
const MOST_MS = 2
/** The items under way for each slot: at least so many packs. */
const PACKS_PER_SLOT = 4
const LEAST_ITEMS_PER_SLOT = 64

export class MapPacks implements MapRunner<Task | Pack> {
  readonly clock: Clock
  readonly slots: number
  readonly #engine: Engine
  readonly #entry: PublicFunction
  readonly #context = new AsyncContext('lido.map')
  readonly #traced: TracedTasks
  readonly hasQueueLimit: boolean
  /** `null`: the caller gave the number. */
  readonly #size: PackSize | null
  readonly #given: number
  readonly #most: number
  readonly #source: object
  readonly #ownTerms: CallTerms
  readonly #packTerms: CallTerms
  readonly #sentAgain = new Set<Pack>()
  #submitted = 0
  #hasEnded = false
  /** The pack that gets the next item. */
  #open: Pack | null = null

  constructor(
    engine: Engine,
    terms: CallTerms,
    { concurrency = Number.POSITIVE_INFINITY }: MapSettings,
    { itemsPerTask }: ItemSettings,
    source: object,
    entry: PublicFunction,
  ) {
    const size = itemsPerTask === 'auto' ? new PackSize() : null
    this.clock = engine.clock
    this.slots = engine.slots
    this.#engine = engine
    this.#entry = entry
    this.#traced = new TracedTasks(engine.identity)
    this.hasQueueLimit = Number.isFinite(engine.settings.maxQueue)
    this.#size = size
    this.#given = size === null ? (itemsPerTask as number) : 1
    // Each slot has two packs: one runs, and one waits.
    this.#most = size === null ? concurrency : Math.max(Math.floor(concurrency / (2 * engine.slots)), 1)
    this.#source = source
    this.#ownTerms = size === null ? terms : { ...terms, items: measureOwn(size) }
    this.#packTerms = { ...terms, handler: { ...terms.handler, call: 'pack' } }
  }

  /** The size of the next pack. Each item has its own task while somebody follows tasks. */
  get itemsPerTask(): number {
    if (this.#traced.hasSubscribers) return 1
    if (this.#size === null) return this.#given
    const total = lengthOf(this.#source) ?? Number.POSITIVE_INFINITY
    // At the end packs are smaller, so that the workers end together.
    const share = Math.ceil((total - this.#submitted) / (2 * this.slots))
    return Math.max(Math.min(this.#size.items, this.#most, share), 1)
  }

  /** Exactly the given number of items share a task, so the map does not pause between them. */
  get mayPause(): boolean {
    return this.#size !== null
  }

  get itemLimit(): number | undefined {
    const items = this.#size === null ? this.#given : this.#size.items
    if (items === 1) return undefined
    return this.slots * Math.max(PACKS_PER_SLOT * items, LEAST_ITEMS_PER_SLOT)
  }

  room(): Promise<void> {
    return this.#engine.room(null)
  }

  submit(item: SubmittedItem): Task | Pack {
    const size = this.itemsPerTask
    this.#submitted++
    // The caller may change the item before the pack is sent.
    const payload = size === 1 || isMoved(item.item) ? UNFIT : snapshotOf(item.item)
    if (payload === UNFIT) {
      // The earlier items start first, except where the map has waited for the room of this one.
      if (!this.hasQueueLimit) this.#flush()
      return this.#sendAlone(item, item.item)
    }
    if (this.#open === null) this.#begin()
    const pack = this.#open!
    if (pack.add(item, payload) >= size) this.#flush()
    return pack
  }

  onInputEnd(): void {
    this.#flush()
  }

  /** The map has ended. */
  cancel(task: Task | Pack, error: PoolError): void {
    this.#hasEnded = true
    this.#open = null
    for (const sent of [task, ...this.#sentAgain]) {
      const own = sent instanceof Pack ? sent.task : sent
      if (own !== null && own.state !== 'settled') this.#engine.cancel(own, error)
    }
    this.#sentAgain.clear()
  }

  /** The items of one turn of the event loop share packs. No item waits longer for others. */
  #begin(): void {
    const pack = new Pack(this)
    this.#open = pack
    this.clock.nextTurn(() => {
      if (this.#open !== pack) return
      if (!this.hasQueueLimit) return this.#flush()
      // The place in the queue was kept only for the turn of the item.
      this.#open = null
      this.sendAgain(pack)
    })
  }

  #flush(): void {
    const pack = this.#open
    this.#open = null
    if (pack !== null) this.#send(pack)
  }

  #send(pack: Pack): void {
    const call = this.#callOf(pack)
    try {
      pack.task = forCaller(this.#entry, () => this.#engine.submit(call, answer => pack.onAnswer(answer)))
    } catch (error) {
      pack.onAnswer(new Rejection(error))
    }
  }

  #callOf(pack: Pack): Call {
    const mostMs = this.#size === null ? Number.POSITIVE_INFINITY : MOST_MS
    return { payload: { items: pack.payloads, mostMs }, terms: { ...this.#packTerms, items: pack } }
  }

  #sendAlone(item: SubmittedItem, payload: unknown): Task {
    const call = callOf(payload, this.#ownTerms)
    return forCaller(this.#entry, () => this.#engine.submit(call, answer => item.settle(answer)))
  }

  // What packs tell.

  onRun(runMs: number, items: number): void {
    this.#size?.note(runMs, items)
  }

  failureOf({ reason, error, path }: ItemFailure): Rejection {
    const failure = deserializeError(error, this.#engine.settings.errorClasses)
    return new Rejection(reason === 'result' ? new NotCloneableError(path, failure) : failure)
  }

  /**
   * Sends the items that have no answer after their pack has settled. The pool accepted them before, so it takes them at once, also while it
   * closes.
   */
  sendRest({ items, payloads, answered }: Pack, areAlone: boolean): void {
    const size = areAlone || this.#traced.hasSubscribers ? 1 : (this.#size?.items ?? this.#given)
    this.#context.run(() => {
      for (let from = answered; from < items.length && !this.#hasEnded; from += size) {
        const rest = new Pack(this)
        for (let at = from; at < Math.min(from + size, items.length); at++) rest.add(items[at]!, payloads[at])
        this.#sentAgain.add(rest)
        this.#sendPart(rest, size === 1)
      }
    })
  }

  #sendPart(pack: Pack, isAlone: boolean): void {
    const { payloads } = pack
    const call = isAlone ? callOf(payloads[0], this.#ownTerms) : this.#callOf(pack)
    const settle = (answer: unknown) => (isAlone ? pack.onItem(answer) : pack.onAnswer(answer))
    try {
      pack.task = this.#engine.submitPart(call, settle)
    } catch (error) {
      pack.failRest(new Rejection(error))
    }
  }

  /** Sends a pack that the pool has not accepted, when the queue has room. The pool may be in the middle of its work. */
  sendAgain(pack: Pack): void {
    const send = () => this.#context.run(() => this.#sendWaiting(pack))
    if (!this.hasQueueLimit) return inMicrotask(send)
    this.#context.run(() => this.room()).then(send, error => pack.failRest(new Rejection(error)))
  }

  #sendWaiting(pack: Pack): void {
    if (this.#hasEnded) return
    this.#sentAgain.add(pack)
    this.#send(pack)
  }

  onOver(pack: Pack): void {
    if (this.#sentAgain.size > 0) this.#sentAgain.delete(pack)
  }
}

/** The items of one task. */
class Pack implements ItemsListener {
  readonly items: SubmittedItem[] = []
  readonly payloads: unknown[] = []
  task: Task | null = null
  answered = 0
  readonly #map: MapPacks

  constructor(map: MapPacks) {
    this.#map = map
  }

  /** Returns the number of items. */
  add(item: SubmittedItem, payload: unknown): number {
    this.payloads.push(payload)
    return this.items.push(item)
  }

  onRun(runMs: number): void {
    if (this.answered > 0) this.#map.onRun(runMs, this.answered)
  }

  onItem(result: unknown): void {
    // A damaged worker may answer too often.
    this.items[this.answered++]?.settle(result)
  }

  onItemFailed(failure: ItemFailure): void {
    this.onItem(this.#map.failureOf(failure))
  }

  onItemUnreadable(): void {
    const cause = new RangeError('The host could not read it. It may be nested too deeply.')
    this.onItem(new Rejection(new NotCloneableError('result', cause)))
  }

  /** The number of items that the worker has started, or why the task failed. */
  onAnswer(answer: unknown): void {
    this.#map.onOver(this)
    if (answer instanceof Rejection) return this.#onFailed(answer)
    while (this.answered < (answer as number)) this.onItemUnreadable()
    if (this.answered < this.items.length) this.#map.sendRest(this, false)
  }

  #onFailed(rejection: Rejection): void {
    const { reason } = rejection
    if (reason instanceof QueueFullError) return this.#map.sendAgain(this)
    if (reason instanceof NotCloneableError && reason.path.startsWith('payload'))
      return this.#map.sendRest(this, true)
    if (!isDeath(reason)) return this.failRest(rejection)
    // The worker ran the first item without an answer.
    this.onItem(rejection)
    if (this.answered < this.items.length) this.#map.sendRest(this, false)
  }

  failRest(rejection: Rejection): void {
    while (this.answered < this.items.length) this.onItem(rejection)
  }
}

/** The worker has ended, so the other items may run on another one. */
function isDeath(error: unknown): boolean {
  return (
    error instanceof WorkerExitError ||
    error instanceof WorkerMemoryError ||
    error instanceof WorkerStartError
  )
}

function measureOwn(size: PackSize): ItemsListener {
  return {
    onRun: runMs => size.note(runMs, 1),
    onItem() {},
    onItemFailed() {},
    onItemUnreadable() {},
  }
}
