// The handlers that exchange messages with their callers while they run. Each move of the worker makes one step.
import type { ChunkWriter } from '../../src/shared/streams/chunk-writer.js'
import type { WorkerTask } from '../../src/worker/lane/worker-task.js'
import { type Call, type Fate, isLast } from './call.js'
import { CHUNKS, chunkOf, type LookUp, type Report } from './exchange.js'
import type { World } from './world.js'

/** The answer after the last step; `null` while the handler goes on. */
export type StepResult = 'int' | 'throws' | 'streams' | 'cancelled' | null

export interface HandlerSteps {
  readonly mayGoOn: boolean
  /** The handler waits for functions of its caller. */
  readonly isWaiting: boolean
  step(): StepResult
  /** The worker has sent a call of a function. */
  onCall(callId: number): void
  /** The answer to a call has arrived. */
  onCallAnswer(callId: number): void
}

export function stepsOf(world: World, call: Call, fate: Fate, task: WorkerTask): HandlerSteps | null {
  switch (fate) {
    case 'reports':
      return new Reporting(call, task)
    case 'calls':
      return new Calling(world, call, task)
    case 'streams':
      return new Streaming(world, call, task)
    default:
      return null
  }
}

class Steps {
  readonly call: Call
  readonly task: WorkerTask
  readonly attempt: number

  constructor(call: Call, task: WorkerTask) {
    this.call = call
    this.task = task
    this.attempt = call.startedBy.length
  }

  get isWaiting(): boolean {
    return false
  }

  onCall(_callId: number): void {}

  onCallAnswer(_callId: number): void {}
}

class Reporting extends Steps implements HandlerSteps {
  readonly mayGoOn = true
  #count = 0

  step(): StepResult {
    const { call, task, attempt } = this
    const { reports, throws } = call.exchange
    do {
      task.report({ attempt, count: ++this.#count } satisfies Report)
      if (isLast(call, attempt)) call.reported = this.#count
      if (this.#count === reports) return throws ? 'throws' : 'int'
    } while (call.isQuick)
    return null
  }
}

class Calling extends Steps implements HandlerSteps {
  readonly #world: World
  #signal: AbortSignal | null = null
  #left = 0
  #error: unknown = null
  /** Calls without an answer. */
  readonly #open = new Set<number>()

  constructor(world: World, call: Call, task: WorkerTask) {
    super(call, task)
    this.#world = world
  }

  get mayGoOn(): boolean {
    return this.#signal === null || this.#signal.aborted || this.#left === 0 || this.#error !== null
  }

  override get isWaiting(): boolean {
    return this.#open.size > 0 && this.#signal?.aborted !== true
  }

  override onCall(callId: number): void {
    this.#open.add(callId)
  }

  override onCallAnswer(callId: number): void {
    this.#open.delete(callId)
  }

  step(): StepResult {
    const { call, task, attempt } = this
    if (this.#signal === null) {
      // Like the context of the task, which calls nothing for a cancelled task.
      if (task.isCancelled) return 'cancelled'
      this.#signal = task.makeSignal()
      for (let index = 0; index < call.exchange.lookUps; index++) this.#lookUp(index)
      return call.exchange.isHasty && attempt === 1 ? 'throws' : null
    }
    if (this.#signal.aborted) return 'cancelled'
    if (this.#error === null) return 'int'
    if ((this.#error as Error).message === `thrown by ${call.id}`) return 'throws'
    this.#world.fail(`a function of call ${call.id} rejects with ${String(this.#error)}`)
    return 'throws'
  }

  #lookUp(index: number): void {
    const args: LookUp = [this.call.id, this.attempt, index]
    this.#left++
    this.task.link.call('lookUp', args).then(
      value => {
        this.#left--
        if (String(value) === String(args)) return
        this.#world.fail(
          `the function of call ${this.call.id} gives ${String(value)}, expected ${String(args)}`,
        )
      },
      error => {
        this.#error = error
      },
    )
  }
}

class Streaming extends Steps implements HandlerSteps {
  readonly #world: World
  #writer: ChunkWriter | null = null
  #signal: AbortSignal | null = null
  #count = 0

  constructor(world: World, call: Call, task: WorkerTask) {
    super(call, task)
    this.#world = world
  }

  get mayGoOn(): boolean {
    return (
      this.#writer === null ||
      this.#signal?.aborted === true ||
      this.#count === CHUNKS ||
      this.#writer.hasRoom
    )
  }

  step(): StepResult {
    const { call, task } = this
    const { throws, highWaterMark } = call.exchange
    // The host may already have freed the ticket of a worker that it kills. The signal stays aborted.
    if (task.isCancelled || this.#signal?.aborted === true) return 'cancelled'
    if (this.#writer === null) {
      task.answersByMessage = true
      this.#signal = task.makeSignal()
      this.#writer = task.link.openWriter(false)
      return null
    }
    if (this.#count === CHUNKS) {
      this.#writer.flush()
      return throws ? 'throws' : 'streams'
    }
    this.#writer.write(chunkOf(call, ++this.#count))
    if (this.#count - call.takenChunks > highWaterMark)
      this.#world.fail(`call ${call.id} has more than ${highWaterMark} chunks that wait for the reader`)
    return null
  }
}
