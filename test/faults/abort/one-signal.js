import { getEventListeners } from 'node:events'
import { expect, fulfilled } from '../harness/expect.js'

export default {
  title: 'A signal that 3,000 tasks used has no listener left.',
  async run({ open, needs }) {
    needs('signal')
    const pool = open({ workers: 2 })
    const { signal } = new AbortController()
    const calls = Array.from({ length: 3_000 }, (_, number) => pool.run('echo', number, { signal }))
    for (const [number, call] of calls.entries()) await fulfilled(call, number)
    const left = getEventListeners(signal, 'abort').length
    expect(left === 0, `${left} listeners are left`)
  },
}
