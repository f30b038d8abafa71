// Reads the command line of an example: numbers, flags and folders with their defaults, `--small` for a run of a few seconds,
// and `--help`. An unknown option is refused with the name of the nearest known one.
import { mkdirSync } from 'node:fs'
import { parseArgs } from 'node:util'

const common = {
  small: { kind: 'flag', default: false, help: 'a run of a few seconds (also LIDO_EXAMPLES_SMALL=1)' },
  help: { kind: 'flag', default: false, help: 'prints this text' },
}

export function readOptions(command, definitions, argv = process.argv.slice(2), env = process.env) {
  // A reader such as `| head` closes the output early.
  process.stdout.on('error', ({ code }) => process.exit(code === 'EPIPE' ? 0 : 1))
  const known = { ...definitions, ...common }
  try {
    const given = parse(known, argv)
    if (given.help) return leave(0, usage(command, known))
    const isSmall = given.small ?? env.LIDO_EXAMPLES_SMALL === '1'
    return Object.fromEntries(
      Object.entries(known).map(([name, definition]) => [
        name,
        choose(name, definition, given[name], isSmall),
      ]),
    )
  } catch (error) {
    return leave(2, `${error.message}\n\n${usage(command, known)}`)
  }
}

function parse(known, argv) {
  const options = {}
  for (const [name, { kind }] of Object.entries(known)) {
    options[name] = { type: kind === 'flag' ? 'boolean' : 'string' }
  }
  try {
    return parseArgs({ args: argv, options, strict: true }).values
  } catch (error) {
    if (error.code !== 'ERR_PARSE_ARGS_UNKNOWN_OPTION') throw error
    const [, dashes, wrong] = /'(-*)([^']+?)'/.exec(error.message) ?? [null, '--', '']
    const near = nearest(wrong, Object.keys(known))
    throw new Error(`There is no option ${dashes}${wrong}.${near ? ` Did you mean --${near}?` : ''}`)
  }
}

function choose(name, definition, given, isSmall) {
  if (definition.kind === 'folder') return openFolder(name, given ?? definition.default)
  if (given === undefined) return isSmall ? (definition.small ?? definition.default) : definition.default
  if (definition.kind !== 'number') return given
  const number = given.trim() === '' ? Number.NaN : Number(given)
  const { least = 0, most = Infinity, isWhole = true } = definition
  if (Number.isNaN(number) || number < least || number > most || (isWhole && !Number.isInteger(number))) {
    const bounds = most === Infinity ? `of at least ${least}` : `from ${least} to ${most}`
    throw new Error(`--${name} takes a${isWhole ? ' whole' : ''} number ${bounds}, not '${given}'.`)
  }
  return number
}

function openFolder(name, path) {
  try {
    mkdirSync(path, { recursive: true })
    return path
  } catch (failure) {
    throw new Error(`--${name} takes a folder, not '${path}' (${failure.message}).`)
  }
}

function nearest(wrong, names) {
  const ranked = names.map(name => ({
    name,
    distance: editDistance(wrong.toLowerCase(), name.toLowerCase()),
  }))
  ranked.sort((a, b) => a.distance - b.distance)
  return ranked[0].distance <= Math.max(2, wrong.length / 2) ? ranked[0].name : null
}

function editDistance(from, to) {
  let row = Array.from({ length: to.length + 1 }, (_, index) => index)
  for (let i = 1; i <= from.length; i++) {
    const next = [i]
    for (let j = 1; j <= to.length; j++) {
      next[j] = Math.min(row[j] + 1, next[j - 1] + 1, row[j - 1] + (from[i - 1] === to[j - 1] ? 0 : 1))
    }
    row = next
  }
  return row[to.length]
}

function usage(command, known) {
  const lines = Object.entries(known).map(([name, { kind, default: value, help }]) => {
    const flag = `--${name}${kind === 'flag' ? '' : ` <${kind}>`}`
    const note = kind === 'flag' || value === undefined ? '' : ` (default ${value})`
    return `  ${flag.padEnd(38)} ${help}${note}`
  })
  return `Usage: ${command} [options]\n\n${lines.join('\n')}`
}

function leave(exitCode, text) {
  const print = exitCode === 0 ? console.log : console.error
  print(text)
  process.exit(exitCode)
}
