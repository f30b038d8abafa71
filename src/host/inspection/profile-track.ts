// The CPU profile of one thread during a recording. A profile of one long time would need much memory, and would be lost with its thread.
// So it consists of pieces of a second, and only the last ones are kept.
import { realClock } from '../../shared/platform/clock.js'
import type { RawNode, RawProfile } from '../../shared/platform/own-profile.js'
import { within } from '../../shared/platform/within.js'
import type { ProfileSource } from './profile-source.js'

/** A profile ends at most this long before the host reads it. */
const MOST_DELAY_US = 60e6

export class ProfileTrack {
  readonly pieces: RawProfile[] = []
  readonly #source: ProfileSource
  readonly #keepMs: number
  readonly #nowUs: () => number
  /** The thread starts a profile or sends one. */
  #turn: Promise<void> | null
  #hasEnded = false
  /** Why pieces are missing. `null`: none is missing so far. */
  problem: string | null = null

  /** @param nowUs the clock of the recording */
  constructor(source: ProfileSource, keepMs: number, nowUs: () => number) {
    this.#source = source
    this.#keepMs = keepMs
    this.#nowUs = nowUs
    this.#turn = this.#do(() => source.start().then(() => null))
  }

  /** Resolves when the first profile has started, or cannot start. */
  get started(): Promise<void> {
    return this.#turn ?? Promise.resolve()
  }

  /** Call it once a second. A thread that has not answered yet is left alone. */
  onTime(): void {
    if (this.#turn === null && !this.#hasEnded) this.#turn = this.#do(() => this.#source.next())
  }

  /** Takes the next piece of a thread that answers at once. */
  takeNow(next: () => RawProfile | null): void {
    try {
      this.#keepPiece(next())
    } catch (failure) {
      this.#onFailure(failure)
    }
  }

  /** Call it when the thread is about to end, or when the recording ends. */
  async end(): Promise<void> {
    if (this.#hasEnded) return
    this.#hasEnded = true
    const last = async () => {
      await this.#turn
      await this.#do(() => this.#source.stop())
    }
    await within(realClock, this.#source.lastPieceMs, last(), () => {
      this.problem = 'did not answer in time, so the last part of its profile is missing'
    })
  }

  /** Call it when the thread has ended. */
  onExit(): void {
    if (!this.#hasEnded) this.problem = 'ended early, so up to a second of its profile is missing'
    this.#hasEnded = true
  }

  async #do(action: () => Promise<RawProfile | null>): Promise<void> {
    try {
      this.#keepPiece(await action())
    } catch (failure) {
      this.#onFailure(failure)
    }
    this.#turn = null
  }

  #onFailure(failure: unknown): void {
    if (!this.#hasEnded) this.problem = `cannot be profiled: ${(failure as Error | null)?.message}`
  }

  #keepPiece(piece: RawProfile | null): void {
    if (piece !== null) this.#keep(onClock(piece, this.#nowUs()))
  }

  #keep(piece: RawProfile): void {
    this.pieces.push(piece)
    const from = piece.endTime - this.#keepMs * 1000
    while (this.pieces[0]!.endTime < from) this.pieces.shift()
  }
}

/**
 * Node 22 to 26 write the times of a thread's profile with 32 bits. So multiples of 2 ** 32 microseconds are missing, and a step back of
 * some microseconds becomes a large step forward. On a system where V8 has a clock of its own, a profile ends when the host reads it.
 */
function onClock(piece: RawProfile, nowUs: number): RawProfile {
  const timeDeltas = piece.timeDeltas.map(delta => (delta > 2 ** 31 ? delta - 2 ** 32 : delta))
  const lengthUs = timeDeltas.reduce((sum, delta) => sum + delta, 0)
  let lateUs = nowUs - piece.endTime
  if (Math.abs(lateUs) > MOST_DELAY_US) lateUs %= 2 ** 32
  if (lateUs < -1000 || lateUs > MOST_DELAY_US) lateUs = 0
  const endTime = nowUs - lateUs
  const tailUs = piece.endTime - piece.startTime - lengthUs
  const isPlausible = tailUs >= 0 && tailUs < MOST_DELAY_US
  return { ...piece, timeDeltas, endTime, startTime: endTime - lengthUs - (isPlausible ? tailUs : 0) }
}

/** One profile. Nodes are in the order in which parents come first. */
export interface JoinedProfile {
  nodes: { id: number; parent: number; callFrame: RawNode['callFrame'] }[]
  startTime: number
  endTime: number
  samples: number[]
  /** When each sample was taken. */
  times: number[]
}

/** Joins pieces whose times may overlap a little. Equal stacks become one. */
export function joinPieces(pieces: readonly RawProfile[]): JoinedProfile | null {
  const first = pieces[0]
  if (first === undefined) return null
  const joined: JoinedProfile = {
    nodes: [],
    startTime: first.startTime,
    endTime: pieces.at(-1)!.endTime,
    samples: [],
    times: [],
  }
  const tree = new StackTree(joined.nodes)
  let lastTime = Number.NEGATIVE_INFINITY
  for (const { nodes, samples, timeDeltas, startTime } of pieces) {
    const idOf = tree.add(nodes)
    let time = startTime
    for (let i = 0; i < samples.length; i++) {
      time += timeDeltas[i]!
      if (time <= lastTime) continue
      const id = idOf.get(samples[i]!)
      if (id === undefined) continue
      joined.samples.push(id)
      joined.times.push(time)
      lastTime = time
    }
  }
  return joined
}

class StackTree {
  readonly #nodes: JoinedProfile['nodes']
  readonly #ids = new Map<string, number>()

  constructor(nodes: JoinedProfile['nodes']) {
    this.#nodes = nodes
  }

  /** Returns the new id of each node. */
  add(nodes: readonly RawNode[]): Map<number, number> {
    const byId = new Map(nodes.map(node => [node.id, node]))
    const idOf = new Map<number, number>()
    const roots = nodes.slice(0, 1)
    const open: { node: RawNode; parent: number }[] = roots.map(node => ({ node, parent: 0 }))
    for (let next = open.pop(); next !== undefined; next = open.pop()) {
      const { node, parent } = next
      const id = this.#idOf(node, parent)
      idOf.set(node.id, id)
      for (const child of node.children ?? []) open.push({ node: byId.get(child)!, parent: id })
    }
    return idOf
  }

  #idOf({ callFrame }: RawNode, parent: number): number {
    const { functionName, scriptId, url, lineNumber, columnNumber } = callFrame
    const key = `${parent} ${scriptId} ${lineNumber} ${columnNumber} ${functionName} ${url}`
    const known = this.#ids.get(key)
    if (known !== undefined) return known
    const id = this.#nodes.length + 1
    this.#ids.set(key, id)
    this.#nodes.push({ id, parent, callFrame: { functionName, scriptId, url, lineNumber, columnNumber } })
    return id
  }
}
