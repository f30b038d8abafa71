// The command line: read once, checked here.
import { parseArgs } from 'node:util'

export const poolNames = ['lido', 'piscina', 'tinypool', 'workerpool', 'poolifier']
const backends = ['thread', 'process', 'inline']

export const usage = `npm run faults -- [options]

  --pool <name>     only this pool; may be repeated: ${poolNames.join(', ')} (default all)
  --backend <name>  where the workers live; may be repeated: ${backends.join(', ')} (default thread)
  --only <text>     only faults whose id or title has this text; may be repeated
  --jobs <n>        scenarios at a time (default 2)
  --json            print everything as JSON instead of the table
  --save            also write docs/faults.md: all faults, lido on every backend beside its peers on threads`

export function readOptions(args) {
  const { values } = parseArgs({
    args,
    options: {
      pool: { type: 'string', multiple: true, default: poolNames },
      backend: { type: 'string', multiple: true, default: [] },
      only: { type: 'string', multiple: true, default: [] },
      jobs: { type: 'string', default: '2' },
      json: { type: 'boolean', default: false },
      save: { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
    },
  })
  check('pool', values.pool, poolNames)
  check('backend', values.backend, backends)
  if (values.save && (values.only.length > 0 || values.backend.length > 0))
    throw new RangeError('--save keeps the whole table: leave --only and --backend away')
  const jobs = Number(values.jobs)
  if (!Number.isInteger(jobs) || jobs < 1) throw new RangeError('--jobs must be a whole number above 0')
  return { ...values, columns: columnsOf(values), jobs }
}

/** Each backend of each pool; of the table that is kept, lido's three backends. */
function columnsOf({ pool, backend, save }) {
  const asked = backend.length > 0 ? backend : ['thread']
  return pool.flatMap(poolName => {
    const chosen = save && poolName === 'lido' ? backends : asked
    return chosen.map(each => ({ poolName, backend: each }))
  })
}

function check(option, given, known) {
  const unknown = given.find(name => !known.includes(name))
  if (unknown !== undefined) throw new RangeError(`No ${option} '${unknown}'. There are: ${known.join(', ')}`)
}
