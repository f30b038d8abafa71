// The connection to a program that was started with `LIDO_INSPECT=1`.
import { statSync } from 'node:fs'
import { connect } from 'node:net'
import { checkFolder, inspectablePids, isAlive, socketFolder, socketPath } from '../dist/cjs/inspection.js'
import { CommandError } from './command-error.js'

const howToStart = 'Start it with the environment variable LIDO_INSPECT=1: LIDO_INSPECT=1 node app.js'
const howLongMs = 3000

/** The number of a process, from the text of an argument. */
export function parsePid(text) {
  const pid = Number(text)
  if (/^\d+$/.test(text) && Number.isSafeInteger(pid) && pid > 0) return pid
  throw new CommandError(
    `'${text}' is no id of a process. Give a number: npx lido top shows the programs.`,
    2,
  )
}

/** Connects to the program. Throws `CommandError` with what to do. */
export async function openProgram(pid) {
  if (!isAlive(pid)) throw new CommandError(`No process has the id ${pid}.`)
  const own = process.geteuid?.()
  const owner = ownerOf(pid)
  if (own !== undefined && own !== 0 && owner !== null && owner !== own) {
    throw new CommandError(`The process ${pid} belongs to another user. Run the command as this user.`)
  }
  const uid = owner ?? own
  try {
    checkFolder(socketFolder(uid), uid)
    return new Program(pid, await connected(socketPath(pid, uid)))
  } catch (failure) {
    if (failure.code === 'ENOENT' || failure.code === 'ECONNREFUSED') {
      throw new CommandError(
        `The process ${pid} cannot be inspected, or has not created a pool yet. ${howToStart}\nIts socket would be ${socketPath(pid, uid)}. Both programs need the same TMPDIR.`,
      )
    }
    if (failure.code === 'EACCES' || failure.code === 'EPERM') {
      throw new CommandError(
        `The socket of the process ${pid} belongs to another user. Run the command as this user.`,
      )
    }
    throw new CommandError(`The socket of the process ${pid} cannot be opened. ${failure.message}`)
  }
}

/** The ids of the user's programs that answer. */
export async function findPrograms() {
  const programs = []
  for (const pid of inspectablePids()) {
    if (!isAlive(pid)) continue
    let program = null
    try {
      program = await openProgram(pid)
      programs.push(await program.stats(howLongMs))
    } catch (failure) {
      if (!(failure instanceof CommandError)) throw failure
    } finally {
      // An open connection keeps the command alive.
      program?.close()
    }
  }
  return programs
}

class Program {
  #pid
  #connection
  #received = Buffer.alloc(0)
  #wake = null
  #ended = null
  #count = 0

  constructor(pid, connection) {
    this.#pid = pid
    this.#connection = connection
    connection.on('data', data => {
      this.#received = this.#received.length === 0 ? data : Buffer.concat([this.#received, data])
      this.#wake?.()
    })
    const end = () => {
      this.#ended = new CommandError(`The process ${pid} has ended, or has closed the connection.`)
      this.#wake?.()
    }
    connection.on('error', end).on('close', end)
  }

  /** @param limitMs after which the answer is a `CommandError`; the connection stays usable */
  async stats(limitMs = Infinity) {
    return (await this.#answer(this.#send({ command: 'stats' }), limitMs)).result
  }

  /** Records, and calls `write` with each part of the file. */
  async trace(options, write) {
    const id = this.#send({ command: 'trace', ...options })
    for (;;) {
      const { bytes } = await this.#answer(id, Infinity)
      if (bytes === 0) return
      await this.#more(() => this.#received.length >= bytes, Infinity)
      write(this.#received.subarray(0, bytes))
      this.#received = this.#received.subarray(bytes)
    }
  }

  close() {
    this.#connection.destroy()
  }

  #send(request) {
    const id = ++this.#count
    this.#connection.write(`${JSON.stringify({ id, ...request })}\n`)
    return id
  }

  async #answer(id, limitMs) {
    for (;;) {
      const answer = await this.#line(limitMs)
      // An answer that came after its limit belongs to an earlier request.
      if (answer.id !== id) continue
      if (answer.error !== undefined) throw new CommandError(answer.error)
      return answer
    }
  }

  async #line(limitMs) {
    await this.#more(() => this.#received.includes('\n'), limitMs)
    const end = this.#received.indexOf('\n')
    const line = this.#received.subarray(0, end).toString()
    this.#received = this.#received.subarray(end + 1)
    return JSON.parse(line)
  }

  async #more(isEnough, limitMs) {
    let isLate = false
    const timer =
      limitMs === Infinity
        ? undefined
        : setTimeout(() => {
            isLate = true
            this.#wake?.()
          }, limitMs)
    try {
      while (!isEnough()) {
        if (this.#ended !== null) throw this.#ended
        if (isLate) throw new LateError(this.#pid)
        await new Promise(resolve => {
          this.#wake = resolve
        })
      }
    } finally {
      clearTimeout(timer)
    }
  }
}

/** The program has not answered in time. */
export class LateError extends CommandError {
  constructor(pid) {
    super(`The process ${pid} does not answer. Its main thread is busy.`)
  }
}

function connected(path) {
  return new Promise((resolve, reject) => {
    const connection = connect(path)
    connection.once('connect', () => {
      connection.off('error', reject)
      resolve(connection)
    })
    connection.once('error', reject)
  })
}

/** The id of the user who runs the process; `null` where the system does not say it in a file. */
function ownerOf(pid) {
  try {
    return statSync(`/proc/${pid}`).uid
  } catch {
    return null
  }
}
