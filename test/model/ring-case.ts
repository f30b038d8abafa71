// A case for the ring: records of the largest size, so that the ring wraps around after three and is sometimes full.
import {
  createWorkerState,
  LARGEST_VALUE_BYTES,
  type WorkerStateLayout,
} from '../../src/shared/lane/layout.js'
import { BYTES_VALUE, ResultReader, ResultWriter } from '../../src/shared/lane/result-ring.js'
import type { Findings } from './explorer.js'
import type { Script } from './history.js'
import { explorePair } from './pair-case.js'
import { StateRow } from './state.js'
import { World } from './world.js'

const RECORDS = 5
const READS = 2

export function checkRing(): Findings {
  let state: WorkerStateLayout
  const reader: Script = self => {
    state = createWorkerState()
    const ring = new ResultReader(state)
    const take = () => self.note({ kind: 'read', value: ring.ticket === ring.taskId ? ring.ticket : -1 })
    self.start(1)
    self.onQuiet(() => {
      const left: number[] = []
      while (ring.next()) left.push(ring.ticket)
      if (ring.damage !== null) return [`the ring counts as damaged: ${ring.damage}`]
      const isInOrder = left.every((ticket, index) => index === 0 || ticket === left[index - 1]! + 1)
      return isInOrder ? [] : [`the remaining records are out of order: ${left}`]
    })
    for (let read = 0; read < READS; read++) {
      self.next(['reads the ring'])
      while (ring.next()) take()
      if (ring.damage !== null) self.note({ kind: 'read', value: -1 })
      ring.free()
    }
    self.next([])
  }
  const writer: Script = self => {
    const ring = new ResultWriter(state)
    let count = 0
    for (let record = 0; record < RECORDS; record++) {
      if (ring.reserve() < 0) continue
      count++
      ring.publish(BYTES_VALUE, count, count, LARGEST_VALUE_BYTES, 0, 0)
    }
    self.end()
  }
  const world = new World([reader, writer])
  const row = new StateRow(2, 0, 128)
  const readSoFar = row.settledAs(0)
  return explorePair(world, row, {
    onWrite: () => null,
    onPost: () => null,
    onNote(now, _thread, note) {
      if (note.kind !== 'read' || note.value === ++now[readSoFar]!) return null
      return `the host reads record ${note.value}, expected ${now[readSoFar]}`
    },
  })
}
