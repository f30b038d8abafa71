// The command line: read once, checked here, and nothing optional behind it.
import { parseArgs } from 'node:util'
import { roster } from './roster.js'

export const usage = `npm run bench -- [options]

  --only <P1,P6>  only these rows: a bar (P5), one row of it (P5-bytes), or cells: one caller alone
  --pools <a,b>   only these: ${Object.keys(roster).join(', ')}
  --rounds <n>    rounds, in each fresh processes for every pool (default 5)
  --seconds <s>   measured time of an echo turn (default 0.3)
  --quick         1 short round: a look, not a measurement
  --scaling       also with 1, 2, 4, 8 and 15 workers, on 16 cores or more
  --json          print everything as JSON instead of the tables
  --save          also write it to bench/results/, as JSON and as Markdown`

export function readOptions(args) {
  const { values } = parseArgs({
    args,
    options: {
      only: { type: 'string', multiple: true, default: [] },
      pools: { type: 'string' },
      rounds: { type: 'string' },
      seconds: { type: 'string' },
      quick: { type: 'boolean', default: false },
      scaling: { type: 'boolean', default: false },
      json: { type: 'boolean', default: false },
      save: { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
    },
  })
  return {
    rowNames: values.only.flatMap(text => text.split(',')),
    poolNames: values.pools === undefined ? null : checkPools(values.pools.split(',')),
    rounds: values.rounds === undefined ? (values.quick ? 1 : 5) : readCount('rounds', values.rounds),
    turnMs: values.seconds === undefined ? null : 1000 * readNumber('seconds', values.seconds),
    isQuick: values.quick,
    isScaling: values.scaling,
    isJson: values.json,
    isSaved: values.save,
    isHelp: values.help,
  }
}

function readCount(name, text) {
  const number = readNumber(name, text)
  if (!Number.isInteger(number)) throw new RangeError(`--${name} must be a whole number`)
  return number
}

function readNumber(name, text) {
  const number = Number(text)
  if (!(number > 0)) throw new RangeError(`--${name} must be a number above 0`)
  return number
}

function checkPools(names) {
  const unknown = names.find(name => !Object.hasOwn(roster, name))
  if (unknown !== undefined) {
    throw new RangeError(`No pool '${unknown}'. Pools: ${Object.keys(roster).join(', ')}`)
  }
  return names
}
