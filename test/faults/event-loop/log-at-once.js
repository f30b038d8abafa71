import { once } from 'node:events'
import { fulfilled, until } from '../harness/expect.js'

export default {
  title: 'A line that a task logged appears within a second, while the worker is idle.',
  async run({ startSubject }) {
    const subject = startSubject()
    try {
      await until(
        () => subject.output.includes('answered'),
        () => `no answer: ${subject.errors.slice(0, 200)}`,
      )
      await until(() => subject.output.includes('a line of the task'), 'the line is not there', 2_000)
    } finally {
      subject.child.kill('SIGKILL')
    }
  },
  async subject({ open }) {
    const pool = open({ workers: 1 })
    await fulfilled(pool.run('log', 'a line of the task'), 'a line of the task')
    process.stdout.write('answered\n')
    await once(process.stdin.resume(), 'end')
  },
}
