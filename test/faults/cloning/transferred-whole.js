import { expect, fulfilled, rejected } from '../harness/expect.js'

export default {
  title: 'A transferred buffer arrives whole and is detached here. A rejected call leaves it intact.',
  async run({ open, needs }) {
    needs('transfer')
    const pool = open({ workers: 1 })
    const moved = new ArrayBuffer(2 ** 20)
    await fulfilled(pool.run('length', moved, { transferList: [moved] }), 2 ** 20)
    expect(moved.byteLength === 0, 'it is still here')
    const kept = new ArrayBuffer(2 ** 20)
    await rejected(pool.run('length', { kept, callback() {} }, { transferList: [kept] }), { mayThrow: false })
    expect(kept.byteLength === 2 ** 20, 'a rejected call took the buffer')
  },
}
