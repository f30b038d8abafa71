// One pool in one round: the bench's end of a process of its own. A pool that dies, hangs or answers wrongly loses
// its turn and gets a new process for the next one; the others play on.
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { UnavailableError } from './unavailable.js'

const processPath = fileURLToPath(new URL('./contestant-process.js', import.meta.url))
const stopLimitMs = 2_000

export class Contestant {
  #child = null
  #launch

  /** `launch`: `pinnedTo` a core (needs taskset), `heapMebibytes`, `environment`. */
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
      // Node's warnings would stand between the tables; each pool's own are the same to it.
      env: { ...process.env, NODE_NO_WARNINGS: '1', ...environment },
      ...command,
    })
    // A process may also die between its turns, when nobody waits for it.
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
        throw new Error(`its process ended (${killedBy ?? code})`)
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
