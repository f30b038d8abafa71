import { expect, fulfilled, pause, say, settled, tells, until } from '../harness/expect.js'

const count = 400

/** Pseudo-random numbers: the same for the same seed. */
function createRandom(seed) {
  let state = seed
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return state / 2 ** 32
  }
}

const sorts = {
  right: (pool, number) => ({
    call: pool.run('later', { ms: number % 4, value: number }),
    isRight: isValue(number),
  }),
  thrown: pool => ({ call: pool.run('fail', 'plain'), isRight: isErrorOf('plain words') }),
  exited: pool => ({ call: pool.run('exit', 1), isRight: isRejected }),
  uncloneable: pool => ({ call: pool.run('returnFunction'), isRight: isRejected }),
  uncloneableTask: pool => ({ call: pool.run('echo', () => {}), isRight: isRejected }),
  aborted: pool => ({
    call: pool.run('hang', 0, { isAbortable: true }),
    isRight: isRejected,
    isAborted: true,
  }),
}

const isRejected = ({ state }) => state === 'rejected'
const isValue = value => call => call.state === 'fulfilled' && call.value === value
const isErrorOf = words => call => isRejected(call) && tells(call.error, words)

export default {
  title: 'Mixed tasks (success, throw, exit, uncloneable, abort) all settle with the right outcome.',
  backends: ['thread', 'process'],
  limitMs: 120_000,
  isLong: true,
  async run({ open, workers }) {
    const seed = Number(process.env.FAULT_SEED ?? 4_711)
    const random = createRandom(seed)
    const pool = open({ workers: 2 })
    const names = Object.keys(sorts)
    const tasks = []
    for (let number = 0; number < count; number++) {
      // Half of the tasks are correct, so that a faulty task has others to harm.
      const name = random() < 0.5 ? 'right' : names[Math.floor(random() * names.length)]
      const task = { name, number, ...sorts[name](pool, number) }
      tasks.push(task)
      if (task.isAborted) setTimeout(() => task.call.abort(), random() * 300)
      if (random() < 0.1) await pause(5)
    }
    for (const { call, isRight, name, number } of tasks) {
      await settled(call, 60_000)
      expect(
        isRight(call),
        `seed ${seed}: task ${number} (${name}) ${call.state}: ${say(call.error ?? call.value)}`,
      )
    }
    await until(
      () => workers.living === 2,
      () => `${workers.living} of 2 workers live`,
    )
    await fulfilled(pool.run('echo', 1), 1)
  },
}
