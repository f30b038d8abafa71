// P12: large payloads submitted in one turn while the only worker is held, so that all of them wait. Measures the time in the calls
// and at the end of the turn, not the time to create the payloads. No one but the pool keeps a payload.
import { strictEqual } from 'node:assert/strict'
import { setImmediate as turn } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { largeValues } from '../large-values.js'

const warmUpTasks = 5
const warmUpShare = 0.1
const mebibyte = 2 ** 20

const objects = bytes => ({ records: largeValues.objects.create(bytes) })
/** `create` makes the payload of a task. The payload of a `move` is transferred. */
const kinds = {
  objects: { create: objects },
  'same-objects': { create: memoize(objects) },
  // Not a string of parts, which V8 would put together in the call.
  strings: { create: bytes => ({ text: Buffer.alloc(bytes, 'a text ').toString('latin1') }) },
  moved: { create: bytes => ({ data: new Uint8Array(bytes).fill(7) }), move: ({ data }) => [data.buffer] },
}

export async function takeTurn(contestant, { kind, tasks, bytes }) {
  const { create, move } = kinds[kind]
  const submit = payload => pool.run(payload, undefined, undefined, move?.(payload))
  const words = new Int32Array(new SharedArrayBuffer(8))
  const pool = await contestant.start({ handlerName: 'work', workers: 1 })
  await pool.run({ words })
  for (let count = 0; count < warmUpTasks; count += 1) await submit(create(bytes * warmUpShare))
  create(bytes)

  let settled = 0
  const onSettled = () => {
    settled += 1
  }
  pool.run({ hold: true }).then(onSettled, onSettled)
  await turn()
  const rssBefore = process.memoryUsage.rss()
  let submitMs = 0
  for (let count = 0; count < tasks; count += 1) {
    const payload = create(bytes)
    const startedAt = performance.now()
    submit(payload).then(onSettled, onSettled)
    submitMs += performance.now() - startedAt
  }
  const endedAt = performance.now()
  await turn()
  submitMs += performance.now() - endedAt
  strictEqual(settled, 0, 'a task ended that must stay queued')
  const peakBytes = process.resourceUsage().maxRSS * 1024
  collectGarbage()
  const perTask = bytesOfAll => (bytesOfAll - rssBefore) / mebibyte / tasks
  return {
    submitMs: submitMs / tasks,
    peakMebibytes: perTask(peakBytes),
    heldMebibytes: perTask(process.memoryUsage.rss()),
  }
}

function collectGarbage() {
  setFlagsFromString('--expose-gc')
  runInNewContext('gc')()
}

function memoize(create) {
  const made = new Map()
  return bytes => {
    if (!made.has(bytes)) made.set(bytes, create(bytes))
    return made.get(bytes)
  }
}
