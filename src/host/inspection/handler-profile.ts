// Makes one CPU profile of a recording. V8 shows a short handler under the frame that called it, once it has inlined the handler. So the
// slices of the tasks decide to which handler a sample belongs, and not the names of functions.
import type { CpuProfile, CpuProfileNode } from '../../api/trace.js'
import { getFsPromises } from '../../shared/platform/node-modules.js'
import type { JoinedProfile } from './profile-track.js'
import type { Recording } from './recording.js'
import { type TaskSlice, workerKey } from './task-log.js'
import { nameOf } from './trace-events.js'

const HOST = 'host'
const IDLE = 'worker idle'

export function profileOf(recording: Recording): CpuProfile {
  const { host, workers, slices } = recording
  const byWorker = new Map<string, TaskSlice[]>()
  for (const slice of slices) {
    if (slice.run === null) continue
    const key = workerKey(slice.poolId, slice.run.workerId)
    const ofWorker = byWorker.get(key)
    if (ofWorker === undefined) byWorker.set(key, [slice])
    else ofWorker.push(slice)
  }
  const tree = new ProfileTree()
  const slicesOf = ({ poolId, workerId }: { poolId: number; workerId: number }) =>
    byWorker.get(workerKey(poolId, workerId)) ?? []
  // Inline workers run on the host's thread.
  const inline = workers.filter(({ isInline }) => isInline).flatMap(slicesOf)
  if (host.profile !== null) tree.add(host.profile, new SliceFinder(inline, recording.originUs), HOST)
  for (const worker of workers) {
    if (worker.profile === null) continue
    tree.add(worker.profile, new SliceFinder(slicesOf(worker), recording.originUs), IDLE)
  }
  return tree.profile()
}

/** Finds the task that ran at a time. Asked for times in order. */
class SliceFinder {
  readonly #slices: readonly TaskSlice[]
  readonly #originUs: number
  /** The slices that have started. */
  readonly #started: TaskSlice[] = []
  #next = 0

  constructor(slices: readonly TaskSlice[], originUs: number) {
    this.#slices = slices.toSorted((a, b) => a.waitEnd - b.waitEnd)
    this.#originUs = originUs
  }

  /** Of several tasks at once, the one that started last. `null`: none. */
  at(timeUs: number): TaskSlice | null {
    const now = (timeUs - this.#originUs) / 1000
    while (this.#next < this.#slices.length && this.#slices[this.#next]!.waitEnd <= now)
      this.#started.push(this.#slices[this.#next++]!)
    for (let last = this.#started.length - 1; last >= 0; last--) {
      const slice = this.#started[last]!
      if (slice.run!.end >= now) return slice
      this.#started.splice(last, 1)
    }
    return null
  }
}

interface Sample {
  node: CpuProfileNode
  durationUs: number
}

class ProfileTree {
  readonly #nodes: CpuProfileNode[] = []
  readonly #root = this.#node('(root)', '', -1)
  /** By the parent and the frame. */
  readonly #known = new Map<string, CpuProfileNode>()
  /** The samples of each subtree. */
  readonly #samples = new Map<CpuProfileNode, Sample[]>()
  #startTime = Number.POSITIVE_INFINITY

  /** @param otherwise the subtree of samples at which no task ran */
  add({ nodes, samples, times, startTime, endTime }: JoinedProfile, finder: SliceFinder, otherwise: string) {
    this.#startTime = Math.min(this.#startTime, startTime)
    const byId = new Map(nodes.map(node => [node.id, node]))
    /** For each subtree, the nodes of the thread's stacks. */
    const placed = new Map<CpuProfileNode, Map<number, CpuProfileNode>>()
    const place = (subtree: CpuProfileNode, id: number): CpuProfileNode => {
      const places = placed.get(subtree) ?? new Map<number, CpuProfileNode>()
      placed.set(subtree, places)
      const known = places.get(id)
      if (known !== undefined) return known
      const { parent, callFrame } = byId.get(id)!
      const node = parent === 0 ? subtree : this.#child(place(subtree, parent), callFrame)
      places.set(id, node)
      return node
    }
    for (let i = 0; i < samples.length; i++) {
      const slice = finder.at(times[i]!)
      const subtree = this.#subtree(slice, otherwise)
      const node = place(subtree, samples[i]!)
      node.hitCount++
      this.#samples.get(subtree)!.push({ node, durationUs: (times[i + 1] ?? endTime) - times[i]! })
    }
  }

  #subtree(slice: TaskSlice | null, otherwise: string): CpuProfileNode {
    const name = slice === null ? otherwise : nameOf(slice)
    const url = slice === null ? '' : slice.filename
    const subtree = this.#child(this.#root, {
      functionName: name,
      scriptId: '0',
      url,
      lineNumber: -1,
      columnNumber: -1,
    })
    if (!this.#samples.has(subtree)) this.#samples.set(subtree, [])
    return subtree
  }

  #child(parent: CpuProfileNode, callFrame: CpuProfileNode['callFrame']): CpuProfileNode {
    const { functionName, url, lineNumber, columnNumber } = callFrame
    const key = `${parent.id} ${lineNumber} ${columnNumber} ${functionName} ${url}`
    const known = this.#known.get(key)
    if (known !== undefined) return known
    const node = this.#node(functionName, url, lineNumber, columnNumber, callFrame.scriptId)
    parent.children.push(node.id)
    this.#known.set(key, node)
    return node
  }

  #node(functionName: string, url: string, lineNumber: number, columnNumber = -1, scriptId = '0') {
    const callFrame = { functionName, scriptId, url, lineNumber, columnNumber }
    const node: CpuProfileNode = { id: this.#nodes.length + 1, callFrame, hitCount: 0, children: [] }
    this.#nodes.push(node)
    return node
  }

  /** The samples of one subtree follow those of another, so that a viewer shows the time of each as one block. */
  profile(): CpuProfile {
    const startTime = Number.isFinite(this.#startTime) ? Math.round(this.#startTime) : 0
    const samples: number[] = []
    const timeDeltas: number[] = []
    let time = 0
    let last = 0
    for (const ofSubtree of this.#samples.values()) {
      for (const { node, durationUs } of ofSubtree) {
        samples.push(node.id)
        timeDeltas.push(Math.round(time) - last)
        last = Math.round(time)
        time += durationUs
      }
    }
    return new HandlerProfile({
      nodes: this.#nodes,
      startTime,
      endTime: startTime + Math.round(time),
      samples,
      timeDeltas,
    })
  }
}

class HandlerProfile implements CpuProfile {
  declare readonly nodes: CpuProfileNode[]
  declare readonly startTime: number
  declare readonly endTime: number
  declare readonly samples: number[]
  declare readonly timeDeltas: number[]

  constructor(profile: Omit<CpuProfile, 'save'>) {
    Object.assign(this, profile)
  }

  async save(path: string | URL): Promise<void> {
    await getFsPromises().writeFile(path, JSON.stringify(this))
  }
}
