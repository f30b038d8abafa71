// Handlers damage the result ring of their own worker in a live pool. The host answers, every task settles, and no task gets a
// wrong value.
//   LIDO_SEED=123 starts with that seed, LIDO_DAMAGED_RINGS=1000 draws more
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Pool } from 'lido'
import { seededRandom } from '../../build/unit/src/testing/stand-ins.js'

const first = Number(process.env.LIDO_SEED ?? 1)
const count = Number(process.env.LIDO_DAMAGED_RINGS ?? 400)
const limitMs = 280_000
const kinds = ['words', 'cuts', 'counters', 'shapes']
const endings = ['return', 'exit', 'wait']

const code = 'ERR_LIDO_WORKER_EXIT'

/** The payload of an echo. Objects of the same keys share a shape. */
function payload(random) {
  switch (random(5)) {
    case 0:
      return random(2 ** 31) - 2 ** 30
    case 1:
      return 'x'.repeat(random(300))
    case 2:
      return Array.from({ length: random(500) }, (_, index) => index * 7)
    case 3:
      return { id: random(1000), text: `text ${random(1000)}`, inner: { id: random(1000), isInner: true } }
    default:
      return [null, random(100) / 7, { id: random(1000), text: 'ä€'.repeat(random(20)), inner: null }]
  }
}

function* callsOf(pool, seed, random) {
  const kind = kinds[seed % kinds.length]
  // The keys of objects and of errors belong to the value. So this handler changes the values themselves, also later ones.
  const isExact = kind !== 'shapes'
  const ending = isExact ? endings[random(endings.length)] : 'exit'
  const draws = Array.from({ length: 61 }, () => random(2 ** 31) / 2 ** 31)
  const damaging = { seed, kind, ending, draws }
  const place = random(12)
  for (let index = 0; index < 12; index++) {
    if (index === place) yield expectValue(pool.run(damaging, { name: 'damage' }), seed, true)
    else if (random(6) === 0)
      yield expectFailure(pool.run(seed, { name: 'fail' }), `failure ${seed}`, isExact)
    else {
      const value = payload(random)
      yield expectValue(pool.run(value, { name: 'echo' }), value, isExact)
    }
  }
}

/** The worker died while it ran the task, or while it loaded the handler. */
function isDeath(error) {
  return error.code === code || (error.code === 'ERR_LIDO_WORKER_START' && error.cause?.code === code)
}

async function expectValue(call, value, isExact) {
  try {
    const result = await call
    if (isExact) assert.deepStrictEqual(result, value)
    return 'value'
  } catch (error) {
    if (!isDeath(error)) throw error
    return error.message.includes('memory was damaged') ? 'damage' : 'exit'
  }
}

async function expectFailure(call, message, isExact) {
  const error = await call.then(
    value => assert.fail(`a failing handler gave ${JSON.stringify(value)}`),
    error => error,
  )
  if (!isDeath(error) && isExact) assert.equal(error.message, message)
  return isDeath(error) ? 'exit' : 'value'
}

test(`${count} damaged rings stop no host and give no wrong value`, { timeout: limitMs }, async t => {
  const flag = new Int32Array(new SharedArrayBuffer(4))
  const pool = new Pool({
    filename: new URL('./damaging.js', import.meta.url),
    execArgv: ['--import', new URL('./damaging-start.js', import.meta.url).href],
    workerData: flag,
    minWorkers: 2,
    maxWorkers: 2,
    performanceWarnings: false,
  })
  t.after(() => pool.destroy())
  pool.on('error', error => assert.equal(error.code, code))
  let running = first
  t.after(() => t.diagnostic(`the last seed is ${running}`))
  const seen = { value: 0, damage: 0, exit: 0 }
  for (let seed = first; seed < first + count; seed++) {
    await pool.ready()
    running = seed
    const calls = [...callsOf(pool, seed, seededRandom(seed))]
    // The host first reads the ring when it is damaged. It sees several answers then.
    Atomics.wait(flag, 0, flag[0], 20)
    const outcomes = await Promise.all(calls).catch(error => {
      throw new Error(`seed ${seed}: ${error.message}`, { cause: error })
    })
    for (const what of outcomes) seen[what]++
  }
  t.diagnostic(JSON.stringify(seen))
  assert.ok(seen.damage > 0 && seen.value > 0, JSON.stringify(seen))
  assert.equal(await pool.run('still here', { name: 'echo' }), 'still here')
})
