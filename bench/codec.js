// What a value costs on its way through shared memory, beside postMessage and receiveMessageOnPort: microseconds a value,
// medians of rounds that take turns. Internals, not the package: `npm run bench:codec` compiles them first.
//   node bench/codec.js            11 rounds
//   node bench/codec.js --quick    3
import { MessageChannel, receiveMessageOnPort } from 'node:worker_threads'
import { Decoder } from '../build/unit/src/shared/codec/decoder.js'
import { Encoder } from '../build/unit/src/shared/codec/encoder.js'
import { ShapeReader, ShapeTable } from '../build/unit/src/shared/codec/shapes.js'
import { describeMachine } from './machine.js'
import { payloads } from './payloads.js'

const rounds = process.argv.includes('--quick') ? 3 : 11
const ROUND_MS = 40
const MEMORY_BYTES = 2 ** 20
const TABLE_BYTES = 2 ** 14

const cells = ['pair', 'six-fields', 'object-10k', 'string-10k', 'bytes-64k'].map(name => payloads[name])

const memory = new SharedArrayBuffer(MEMORY_BYTES)
const table = new SharedArrayBuffer(TABLE_BYTES)
const encoder = new Encoder(memory, new ShapeTable(table, 0, TABLE_BYTES))
const decoder = new Decoder(memory, new ShapeReader(new ShapeTable(table, 0, TABLE_BYTES)))
const { port1, port2 } = new MessageChannel()

/** Nanoseconds a call, over about ROUND_MS. */
function measure(call) {
  let calls = 1
  for (;;) {
    const begin = process.hrtime.bigint()
    for (let i = 0; i < calls; i++) call(i)
    const ns = Number(process.hrtime.bigint() - begin)
    if (ns >= ROUND_MS * 1e6) return ns / calls
    calls = Math.max(calls * 2, Math.min(calls * 20, Math.ceil((calls * ROUND_MS * 1e6) / Math.max(ns, 1))))
  }
}

const contestants = {
  encode: ({ create }) => measure(i => encoder.encode(create(i), 0, MEMORY_BYTES)),
  decode({ create }) {
    const end = encoder.encode(create(1), 0, MEMORY_BYTES)
    if (end < 0) throw new Error('the encoder declines this value')
    return measure(() => decoder.decode(0, end))
  },
  port: ({ create }) =>
    measure(i => {
      port1.postMessage(create(i))
      receiveMessageOnPort(port2)
    }),
}

function median(samples) {
  return samples.sort((one, other) => one - other)[samples.length >> 1]
}

const samples = cells.map(() => Object.fromEntries(Object.keys(contestants).map(name => [name, []])))
for (let round = -1; round < rounds; round++) {
  for (const [index, cell] of cells.entries()) {
    for (const [name, run] of Object.entries(contestants)) {
      const ns = run(cell)
      // The first round warms up.
      if (round >= 0) samples[index][name].push(ns)
    }
  }
}
port1.close()

const { node, cpu, loadAverage } = describeMachine()
console.log(`Node ${node}, ${cpu}, load average ${loadAverage.toFixed(2)}, ${rounds} rounds, times in µs`)
console.table(
  Object.fromEntries(
    cells.map(({ label }, index) => {
      const [encode, decode, port] = ['encode', 'decode', 'port'].map(
        name => median(samples[index][name]) / 1000,
      )
      const show = µs => Number(µs.toPrecision(3))
      return [
        label,
        {
          encode: show(encode),
          decode: show(decode),
          'encode + decode': show(encode + decode),
          port: show(port),
          'times faster': show(port / (encode + decode)),
        },
      ]
    }),
  ),
)
