// The command line: read once, checked here.
import { parseArgs } from 'node:util'

export const poolNames = ['lido', 'piscina', 'tinypool', 'workerpool', 'poolifier']
const backends = ['thread', 'process', 'inline']

export const usage = `npm run faults -- [options]

  --pool <name>     only this pool; may be repeated: ${poolNames.join(', ')} (default all)
  --backend <name>  where the workers live: ${backends.join(', ')} (default thread)
  --only <text>     only faults whose id or title has this text; may be repeated
  --jobs <n>        scenarios at a time (default 2)
  --json            print everything as JSON instead of the table
  --save            also write docs/faults.md; takes all faults, on threads`

export function readOptions(args) {
  const { values } = parseArgs({
    args,
    options: {
      pool: { type: 'string', multiple: true, default: poolNames },
      backend: { type: 'string', default: 'thread' },
      only: { type: 'string', multiple: true, default: [] },
      jobs: { type: 'string', default: '2' },
      json: { type: 'boolean', default: false },
      save: { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
    },
  })
  check('pool', values.pool, poolNames)
  check('backend', [values.backend], backends)
  if (values.save && (values.only.length > 0 || values.backend !== 'thread'))
    throw new RangeError('--save keeps the whole table on threads: leave --only and --backend away')
  const jobs = Number(values.jobs)
  if (!Number.isInteger(jobs) || jobs < 1) throw new RangeError('--jobs must be a whole number above 0')
  return { ...values, poolNames: values.pool, jobs }
}

function check(option, given, known) {
  const unknown = given.find(name => !known.includes(name))
  if (unknown !== undefined) throw new RangeError(`No ${option} '${unknown}'. There are: ${known.join(', ')}`)
}
