import { fulfilled } from '../harness/expect.js'

export default {
  title: 'A main thread blocked for 700 ms loses no result and causes no false timeout.',
  async run({ open }) {
    const pool = open({ workers: 2 })
    const calls = Array.from({ length: 20 }, (_, value) => pool.run('later', { ms: 10, value }))
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 700)
    for (const [value, call] of calls.entries()) await fulfilled(call, value)
  },
}
