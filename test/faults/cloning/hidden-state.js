import { expect, fulfilled, say, settled } from '../harness/expect.js'

class Account {
  #balance = 5
  get balance() {
    return this.#balance
  }
}

export default {
  title: 'An object whose state a copy would lose is refused, and never arrives empty.',
  async run({ open }) {
    const pool = open({ workers: 1 })
    await fulfilled(pool.run('echo', 1), 1)
    const call = pool.run('echo', { account: new Account() })
    await settled(call)
    expect(call.state === 'rejected' || call.value.account.balance === 5, `${say(call.value)} arrived`)
  },
}
