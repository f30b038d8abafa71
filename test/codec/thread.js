// The other thread. It decodes each message of a batch, compares the value with the structured clone that was sent with it, and
// encodes the value into the lane to the host.
import { parentPort, workerData } from 'node:worker_threads'
import { differenceOf } from './difference.js'
import { alignUp, readerOf, writerOf } from './lane.js'

const reader = readerOf(workerData.toThread)
const writer = writerOf(workerData.toHost)
const room = workerData.toHost.memory.byteLength / 2

parentPort.on('message', ({ ranges, clones, half }) => {
  let at = half * room
  const answers = ranges.map(([from, to], index) => {
    try {
      const value = reader.decode(from, to)
      const difference = differenceOf(value, clones[index])
      if (difference !== undefined) return { difference }
      const start = alignUp(at)
      const end = writer.encode(value, start, (half + 1) * room)
      if (end > 0) at = end
      return { start, end }
    } catch (error) {
      return { difference: error.stack }
    }
  })
  parentPort.postMessage(answers)
})
