import { fulfilled, settled } from '../harness/expect.js'

function nest(depth) {
  let value = 'bottom'
  for (let level = 0; level < depth; level++) value = { value }
  return value
}

export default {
  title: 'A very deeply nested payload resolves or rejects, and never hangs.',
  async run({ open }) {
    const pool = open({ workers: 1 })
    for (const depth of [1_000, 4_000, 20_000, 100_000]) await settled(pool.run('noted', nest(depth)))
    await fulfilled(pool.run('echo', 1), 1)
  },
}
