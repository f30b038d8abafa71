// `npx lido top PID`: shows the pools of a running program, once a second. Without a process id, lists the programs.
import { basename } from 'node:path'
import { parseArgs } from 'node:util'
import { CommandError } from './command-error.js'
import { findPrograms, LateError, openProgram, parsePid } from './connection.js'
import { formatMs, report, table } from './report.js'

const periodMs = 1000
const clearScreen = '\x1b[H\x1b[2J'

export async function top(args) {
  const { values, positionals } = parseArgs({
    args,
    allowPositionals: true,
    options: { once: { type: 'boolean', default: false } },
  })
  if (positionals.length > 1) throw new CommandError(`'${positionals[1]}' is one argument too many.`)
  if (positionals.length === 0) return await list()
  await watch(parsePid(positionals[0]), values.once)
}

async function list() {
  const programs = await findPrograms()
  if (programs.length === 0) {
    process.stdout.write(
      'No program of yours can be inspected. Start it with: LIDO_INSPECT=1 node app.js\nThe first pool of the program opens the socket.\n',
    )
    return
  }
  const rows = programs.map(({ pid, program, uptimeMs, pools }) => [
    String(pid),
    program === null ? '-' : basename(program),
    formatMs(uptimeMs),
    pools.map(pool => pool.label).join(', ') || '-',
  ])
  process.stdout.write(`${table(['PID', 'program', 'uptime', 'pools'], rows).join('\n')}\n`)
}

async function watch(pid, isOnce) {
  const program = await openProgram(pid)
  const screen = new Screen()
  for (const signal of ['SIGINT', 'SIGTERM']) {
    process.once(signal, () => {
      program.close()
      screen.end()
      process.exit(0)
    })
  }
  // The reader of a pipe has left.
  process.stdout.on('error', () => process.exit(0))
  let earlier = null
  try {
    for (;;) {
      try {
        const stats = await program.stats(periodMs)
        screen.show(report(stats, earlier))
        earlier = stats
      } catch (failure) {
        if (!(failure instanceof LateError) || isOnce) throw failure
        screen.note(failure.message)
        continue
      }
      if (isOnce) break
      await new Promise(resolve => setTimeout(resolve, periodMs))
    }
  } finally {
    // An open connection keeps the command alive.
    program.close()
  }
}

/** Draws over the last report on a terminal. Prints one report after another elsewhere. */
class Screen {
  #isTerminal = process.stdout.isTTY === true
  #last = ''

  show(lines) {
    this.#last = `${lines.join('\n')}\n`
    process.stdout.write(this.#isTerminal ? `${clearScreen}${this.#last}` : `${this.#last}\n`)
  }

  note(line) {
    process.stdout.write(this.#isTerminal ? `${clearScreen}${this.#last}\n${line}\n` : `${line}\n\n`)
  }

  end() {
    if (this.#isTerminal) process.stdout.write('\n')
  }
}
