// Starts and controls the child process of one pool in one round. A pool that dies, hangs or answers wrongly loses its
// turn. It gets a new process for the next turn; the other pools continue.
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { UnavailableError } from './unavailable.js'

const processPath = fileURLToPath(new URL('./contestant-process.js', import.meta.url))
const stopLimitMs = 2_000

export class Contestant {
  #child = null
  #launch

  /** `launch` has `pinnedTo` (a core or a list as '0,1', needs `taskset`), `heapMebibytes` and `environment`, all optional. */
  constructor(poolName, launch) {
    this.poolName = poolName
    this.#launch = launch
  }

  async takeTurn({ trialName, settings, limitMs }) {
    this.#child ??= this.#start()
    const child = this.#child
    child.send({ kind: 'turn', trialName, settings })
    const answer = await this.#receive(child, limitMs)
    if (answer.kind === 'result') return answer.figures
    this.#kill(child)
    throw answer.kind === 'unavailable' ? new UnavailableError(answer.message) : new Error(answer.message)
  }

  async stop() {
    const child = this.#child
    if (child === null) return
    this.#child = null
    const exited = once(child, 'exit')
    const timer = setTimeout(() => child.kill('SIGKILL'), stopLimitMs)
    child.send({ kind: 'stop' })
    await exited
    clearTimeout(timer)
  }

  #start() {
    const { pinnedTo = null, heapMebibytes = null, environment = {} } = this.#launch
    const nodeArguments = heapMebibytes === null ? [] : [`--max-old-space-size=${heapMebibytes}`]
    const command =
      pinnedTo === null
        ? { execPath: process.execPath, execArgv: nodeArguments }
        : { execPath: 'taskset', execArgv: ['-c', String(pinnedTo), process.execPath, ...nodeArguments] }
    const child = fork(processPath, [this.poolName], {
      stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
      // Warnings would appear between the printed tables.
      env: { ...process.env, NODE_NO_WARNINGS: '1', ...environment },
      ...command,
    })
    // The process can also die between turns, when nothing awaits an answer.
    child.on('error', () => child.kill('SIGKILL'))
    child.once('exit', () => this.#forget(child))
    return child
  }

  #forget(child) {
    if (this.#child === child) this.#child = null
  }

  #kill(child) {
    this.#forget(child)
    child.kill('SIGKILL')
  }

  async #receive(child, limitMs) {
    const abort = new AbortController()
    const { signal } = abort
    const timer = setTimeout(() => abort.abort(), limitMs)
    try {
      const exit = once(child, 'exit', { signal }).then(([code, killedBy]) => {
        throw new Error(`its process exited (${killedBy ?? code})`)
      })
      const [message] = await Promise.race([once(child, 'message', { signal }), exit])
      return message
    } catch (error) {
      this.#kill(child)
      throw error.name === 'AbortError' ? new Error(`no answer within ${limitMs} ms`) : error
    } finally {
      clearTimeout(timer)
      abort.abort()
    }
  }
}
