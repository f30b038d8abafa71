// Reads and checks the command line.
import { existsSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { beforeName, roster, subjectName } from './roster.js'

export const usage = `npm run bench -- [options]

  --only <P1,P6>  only these rows: a bar (P5), one of its rows (P5-bytes), the rows whose names begin so (P19-2),
                  docs (the rows that the documentation shows), or rows that are measured only when named: cells
                  (one task at a time, every payload), real (real work), P12-large (large queued payloads),
                  P19-counted (P19 with counted work)
  --pools <a,b>   only these pools: ${Object.keys(roster).join(', ')}
  --against <dir> also another build of lido, from <dir>/dist, as the pool ${beforeName}
  --rounds <n>    number of rounds; each starts new processes for every pool (default 5; with --quick 1)
  --seconds <s>   measured time of a turn of P1 to P7 (default 0.3), P19 and P20 (0.4), P21 (1.5) and P22 (0.5)
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
      against: { type: 'string' },
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
  const folderBefore = values.against === undefined ? null : checkBuild(resolve(values.against))
  return {
    rowNames: values.only.flatMap(text => text.split(',')),
    poolNames: values.pools === undefined ? null : checkPools(values.pools.split(','), folderBefore),
    folderBefore,
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

function checkBuild(folder) {
  if (existsSync(join(folder, 'dist/esm/index.js'))) return folder
  throw new RangeError(`--against: '${folder}' has no dist/esm/index.js. Run 'npm run build' there.`)
}

function checkPools(names, folderBefore) {
  if (names.includes(beforeName) && folderBefore === null) {
    throw new RangeError(`The pool '${beforeName}' needs --against.`)
  }
  const unknown = names.find(name => !Object.hasOwn(roster, name))
  if (unknown !== undefined) {
    throw new RangeError(`Unknown pool '${unknown}'. Choose from: ${Object.keys(roster).join(', ')}`)
  }
  return names
}

/** With `--against`, the other build plays wherever lido plays. */
export function withBefore(names) {
  const others = names.filter(name => name !== subjectName && name !== beforeName)
  return names.includes(subjectName) ? [subjectName, beforeName, ...others] : names
}
