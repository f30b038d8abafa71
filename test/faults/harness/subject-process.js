// Runs the `subject` of a scenario and nothing else: how this process ends is what is judged.
import { openCorpus } from './corpus.js'
import { Facts } from './facts.js'
import { loadAdapter } from './load-adapter.js'
import { PoolUnderTest } from './pool-under-test.js'

const [poolName, backend, id] = process.argv.slice(2)
const adapter = await loadAdapter(poolName)
const scenario = await openCorpus().load(id)
const open = options => new PoolUnderTest(adapter, { backend, ...options })
await scenario.subject({ open, facts: new Facts(process.env.FAULT_FOLDER), features: adapter.features })
