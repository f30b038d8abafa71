import { fulfilled, rejected } from '../harness/expect.js'

export default {
  title: 'After 60 deaths by bad tasks in a row, good tasks still run.',
  backends: ['thread', 'process'],
  limitMs: 60_000,
  isLong: true,
  async run({ open }) {
    const pool = open({ workers: 2 })
    for (let round = 0; round < 60; round++) {
      await rejected(pool.run('exit', 1))
      if (round % 10 === 9) await fulfilled(pool.run('echo', round), round)
    }
    const mixed = Array.from({ length: 20 }, (_, number) => ({
      number,
      death: pool.run('exit', 1),
      good: pool.run('echo', number),
    }))
    for (const { number, death, good } of mixed) {
      await rejected(death)
      await fulfilled(good, number)
    }
  },
}
