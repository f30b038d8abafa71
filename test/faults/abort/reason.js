import { expect, rejected, say } from '../harness/expect.js'

function expectAbortError(error, isReason) {
  expect(error?.name === 'AbortError', `the error is ${say(error)}`)
  expect(isReason(error.cause) || isReason(error.reason), 'it does not carry the reason')
}

export default {
  title: "An abort rejects with an AbortError that has the signal's reason, also for AbortSignal.timeout().",
  async run({ open, needs, facts }) {
    needs('signal')
    const pool = open({ workers: 1 })
    const reason = new Error('the reason')
    const call = pool.run('hang', 1, { isAbortable: true })
    await facts.reach(1, 'hanging')
    call.abort(reason)
    expectAbortError(await rejected(call), value => value === reason)
    const early = pool.run('echo', 1, { signal: AbortSignal.abort(reason) })
    expectAbortError(await rejected(early), value => value === reason)
    const timed = pool.run('hang', 2, { signal: AbortSignal.timeout(50) })
    expectAbortError(await rejected(timed), value => value?.name === 'TimeoutError')
  },
}
