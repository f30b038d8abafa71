import { expect, fulfilled, say } from '../harness/expect.js'

export default {
  title: 'An own "__proto__" key arrives as data and changes no prototype, in both directions.',
  async run({ open }) {
    const pool = open({ workers: 1 })
    const payload = JSON.parse('{"__proto__":{"isPolluted":true},"a":1}')
    const result = await fulfilled(pool.run('echo', payload))
    expect(Object.hasOwn(result ?? {}, '__proto__') && result.a === 1, `arrived as ${say(result)}`)
    expect({}.isPolluted === undefined && result.isPolluted === undefined, 'polluted here')
    const keys = await fulfilled(pool.run('ownKeys', payload))
    expect(keys?.includes('__proto__'), `the task has the keys ${say(keys)}`)
    expect((await fulfilled(pool.run('readPrototype', 'isPolluted'))) === undefined, 'polluted there')
  },
}
