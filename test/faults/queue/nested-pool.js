import { fulfilled } from '../harness/expect.js'

export default {
  title: 'A task may create, use and destroy a pool inside its worker.',
  async run({ open }) {
    const pool = open({ workers: 1 })
    await fulfilled(pool.run('nestPool', 42), 42)
    await fulfilled(pool.run('nestPool', 43), 43)
  },
}
