import { fulfilled, rejected } from '../harness/expect.js'

const names = [
  'constructor',
  'toString',
  '__proto__',
  'hasOwnProperty',
  'valueOf',
  'isPrototypeOf',
  '__defineGetter__',
  '__lookupGetter__',
  'propertyIsEnumerable',
  'toLocaleString',
]

export default {
  title: 'Inherited names such as "constructor" and "__proto__" reject as unknown tasks.',
  async run({ open }) {
    const pool = open({ workers: 1 })
    await fulfilled(pool.run('echo', 1), 1)
    for (const name of names) await rejected(pool.run(name, 'x'))
    await fulfilled(pool.run('echo', 2), 2)
  },
}
