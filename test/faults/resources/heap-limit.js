import { expect, fulfilled, rejected, say } from '../harness/expect.js'

const resourceLimits = { maxOldGenerationSizeMb: 32, maxYoungGenerationSizeMb: 8 }

export default {
  title: 'A task beyond the heap limit rejects with ERR_WORKER_OUT_OF_MEMORY, and queued tasks run.',
  backends: ['thread', 'process'],
  async run({ open, needs }) {
    needs('resourceLimits')
    const pool = open({ workers: 1, resourceLimits })
    const hungry = pool.run('eatMemory')
    const behind = pool.run('echo', 1)
    const error = await rejected(hungry)
    expect(error?.code === 'ERR_WORKER_OUT_OF_MEMORY', `rejected with ${say(error)}, code ${error?.code}`)
    await fulfilled(behind, 1)
  },
}
