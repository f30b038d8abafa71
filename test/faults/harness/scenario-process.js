// One scenario against one pool, in this process: tells its parent how it went, and ends.
import { WatchedWorkers } from './watched-workers.js'

const workers = new WatchedWorkers()
const { openCorpus } = await import('./corpus.js')
const { loadAdapter } = await import('./load-adapter.js')
const { createStage } = await import('./stage.js')
const { ok, failed } = await import('./verdicts.js')

const [poolName, backend, fault] = process.argv.slice(2)
const scenario = await openCorpus().load(fault)
const adapter = await loadAdapter(poolName)
const stage = createStage({ adapter, poolName, backend, fault, folder: process.env.FAULT_FOLDER, workers })
const exit = process.exit.bind(process)

async function judge() {
  try {
    await scenario.run(stage)
    return { verdict: ok }
  } catch (error) {
    if (error?.verdict !== undefined) return { verdict: error.verdict, why: error.message }
    // Not expected by the scenario: the pool's own exception, out of its constructor for example.
    return { verdict: failed, why: String(error?.stack ?? error).slice(0, 400) }
  }
}

process.send(await judge(), async () => {
  await stage.leave()
  exit(0)
})
