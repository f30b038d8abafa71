import { expect, pause, settled } from '../harness/expect.js'

const workers = 16
const lines = 60

export default {
  title: 'Sixteen workers that print to a slow pipe lose nothing and cause no warning.',
  backends: ['thread', 'process'],
  async run({ startSubject }) {
    const subject = startSubject()
    subject.child.stdout.on('data', async () => {
      subject.child.stdout.pause()
      await pause(2)
      subject.child.stdout.resume()
    })
    const { output, errors } = await subject.end(20_000)
    expect(!/Warning/.test(errors), errors.slice(0, 200))
    const printed = output.match(/x/g)?.length ?? 0
    expect(printed === workers * lines * 900, `${printed} of ${workers * lines * 900} bytes`)
  },
  async subject({ open }) {
    const pool = open({ workers })
    await settled(Array.from({ length: workers }, (_, task) => pool.run('logMuch', task)))
    await settled(pool.destroy())
  },
}
