import { expect, until } from '../harness/expect.js'

const count = 6

export default {
  title: 'close() on SIGTERM finishes accepted tasks, and the process exits with 0 within 2 s.',
  async run({ startSubject, needs }) {
    needs('close')
    const subject = startSubject()
    await until(
      () => subject.output.includes('ready'),
      () => `not ready: ${subject.errors.slice(0, 200)}`,
    )
    subject.child.kill('SIGTERM')
    const { exitCode, signal, output, errors } = await subject.end()
    expect(exitCode === 0, `the process ended (${signal ?? exitCode}): ${errors.slice(0, 300)}`)
    const finished = output.split('\n').filter(line => line === 'finished').length
    expect(finished === count, `${finished} of ${count} accepted tasks finished`)
  },
  async subject({ open, facts }) {
    const pool = open({ workers: 2 })
    for (let number = 0; number < count; number++) {
      pool.run('later', { ms: 200, value: number }).done.then(() => {})
    }
    const calls = Array.from({ length: count }, (_, number) => pool.run('gated', number))
    for (const call of calls)
      call.done.then(() => call.state === 'fulfilled' && process.stdout.write('finished\n'))
    process.once('SIGTERM', () => {
      const end = pool.close()
      facts.openGate()
      return end
    })
    await facts.reach(2, 'started')
    process.stdout.write('ready\n')
  },
}
