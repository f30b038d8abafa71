import { fulfilled, rejected } from '../harness/expect.js'

function detached() {
  const buffer = new ArrayBuffer(8)
  structuredClone(buffer, { transfer: [buffer] })
  return buffer
}

export default {
  title: 'A transfer list with a detached, doubled or impossible entry rejects; the pool is unharmed.',
  backends: ['thread'],
  async run({ open, needs }) {
    needs('transfer')
    const pool = open({ workers: 1 })
    const gone = detached()
    const twice = new ArrayBuffer(8)
    for (const [payload, transferList] of [
      [gone, [gone]],
      [twice, [twice, twice]],
      [1, [{}]],
    ]) {
      await rejected(pool.run('echo', payload, { transferList }), { mayThrow: false })
    }
    await fulfilled(pool.run('echo', 1), 1)
  },
}
