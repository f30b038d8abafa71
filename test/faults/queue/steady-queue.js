import { expect, fulfilled } from '../harness/expect.js'

const count = 600
const inFlight = 20

/** The largest number of later tasks that started before an earlier task. */
function mostOvertaken(order) {
  let most = 0
  for (const [place, number] of order.entries()) {
    const overtakers = order.slice(0, place).filter(other => other > number).length
    most = Math.max(most, overtakers)
  }
  return most
}

export default {
  title: 'In a steady queue of 20, no task is overtaken by more than 40 others.',
  async run({ open, facts }) {
    const pool = open({ workers: 1 })
    let next = 0
    const caller = async () => {
      while (next < count) {
        const number = next++
        await fulfilled(pool.run('noted', number), number)
      }
    }
    await Promise.all(Array.from({ length: inFlight }, caller))
    const most = mostOvertaken(facts.numbers('ran'))
    expect(most <= 40, `one task was overtaken by ${most}`)
  },
}
