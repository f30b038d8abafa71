// Reads and checks the command line.
import { parseArgs } from 'node:util'
import { roster } from './roster.js'

export const usage = `npm run bench -- [options]

  --only <P1,P6>  only these rows: a bar (P5), one of its rows (P5-bytes), cells (one task at a time, every
                  payload), or real (real work)
  --pools <a,b>   only these pools: ${Object.keys(roster).join(', ')}
  --rounds <n>    number of rounds; each starts new processes for every pool (default 5; with --quick 1)
  --seconds <s>   measured time of an echo turn, in seconds (default 0.3)
  --endless <s>   time of the map over an endless input, in seconds (default 10)
  --quick         one short round, too short for reliable figures
  --scaling       also 1, 2, 4, 8 and 15 workers; needs 16 cores
  --json          print all results as JSON instead of the tables
  --save          also write the results to bench/results/, as JSON and as Markdown`

export function readOptions(args) {
  const { values } = parseArgs({
    args,
    options: {
      only: { type: 'string', multiple: true, default: [] },
      pools: { type: 'string' },
      rounds: { type: 'string' },
      seconds: { type: 'string' },
      endless: { type: 'string' },
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
    endlessMs: values.endless === undefined ? null : 1000 * readNumber('endless', values.endless),
    isQuick: values.quick,
    isScaling: values.scaling,
    isJson: values.json,
    isSaved: values.save,
    isHelp: values.help,
  }
}

function readCount(name, text) {
  const number = readNumber(name, text)
  if (!Number.isInteger(number)) throw new RangeError(`--${name} must be an integer.`)
  return number
}

function readNumber(name, text) {
  const number = Number(text)
  if (!(number > 0)) throw new RangeError(`--${name} must be a number above 0.`)
  return number
}

function checkPools(names) {
  const unknown = names.find(name => !Object.hasOwn(roster, name))
  if (unknown !== undefined) {
    throw new RangeError(`Unknown pool '${unknown}'. Choose from: ${Object.keys(roster).join(', ')}`)
  }
  return names
}
