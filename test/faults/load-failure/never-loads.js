import { expect, fulfilled, pause, rejected, say, until } from '../harness/expect.js'

export default {
  title: 'While a file never finishes loading, a task can be aborted and destroy() works.',
  async run({ open, workers, aWorkerStarts }) {
    const pool = open({ workers: 1, file: 'broken/never-loads.js' })
    const call = pool.run('echo', 1, { isAbortable: true })
    await aWorkerStarts()
    await pause(200)
    expect(call.isPending, `${call.label} settled before it was aborted: ${say(call.error ?? call.value)}`)
    call.abort()
    await rejected(call)
    await fulfilled(pool.destroy())
    await until(() => workers.living === 0, 'a worker lives on')
  },
}
