import { expect, rejected, say } from '../harness/expect.js'

export default {
  title: "An error arrives with name, message, the worker's stack, code, own fields and cause.",
  async run({ open }) {
    const pool = open({ workers: 1 })
    const error = await rejected(pool.run('fail', 'rich'))
    expect(error instanceof Error, `no Error but ${say(error)}`)
    expect(error.name === 'RangeError' && error.message === 'rich words', `arrived as ${say(error)}`)
    expect(String(error.stack).includes('tasks.js'), 'the stack does not show where the worker threw it')
    expect(error.code === 'EOWN', `code is ${say(error.code)}`)
    expect(error.detail?.a === 1, `detail is ${say(error.detail)}`)
    expect(error.cause?.message === 'its cause', `cause is ${say(error.cause)}`)
  },
}
