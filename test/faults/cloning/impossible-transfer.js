import { fulfilled, rejected } from '../harness/expect.js'

/** A port that was already transferred. A detached buffer would not do: Node sends it as an empty buffer without an error. */
function detached() {
  const { port1, port2 } = new MessageChannel()
  port2.close()
  structuredClone(port1, { transfer: [port1] }).close()
  return port1
}

export default {
  title: 'A transfer list with a detached, doubled or impossible entry rejects. The pool survives.',
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
