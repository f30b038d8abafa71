// One pool in one round: the bench's end of a process of its own. A pool that dies, hangs or answers wrongly loses
// its turn and gets a new process for the next one; the others play on.
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'

const processPath = fileURLToPath(new URL('./contestant-process.js', import.meta.url))
const startLimitMs = 10_000
const stopLimitMs = 2_000

export class Contestant {
  #child = null

  constructor(poolName) {
    this.poolName = poolName
  }

  /** Resolves to the version of the pool's package; null where there is no package. */
  async start() {
    this.#child = fork(processPath, [this.poolName], { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] })
    this.#forgetOnExit(this.#child)
    const { version } = await this.#receive(startLimitMs)
    return version
  }

  /** Turns that count for nothing, so that the first turns that count do not meet cold code. */
  async warmUp(cells, processWarmUpMs) {
    const durationMs = processWarmUpMs / cells.length
    for (const cell of cells) {
      // What fails here fails again in the turn that counts, and is reported there.
      await this.takeTurn({ cell, turnWarmUpMs: 0, durationMs }).catch(() => {})
    }
  }

  async takeTurn({ cell, turnWarmUpMs, durationMs }) {
    if (this.#child === null) await this.start()
    this.#child.send({ kind: 'turn', cellId: cell.id, turnWarmUpMs, durationMs })
    const { kind, ...result } = await this.#receive(10 * (turnWarmUpMs + durationMs) + startLimitMs)
    return result
  }

  async stop() {
    if (this.#child === null) return
    const child = this.#child
    this.#child = null
    const timer = setTimeout(() => {
      console.error(`${this.poolName} did not stop within ${stopLimitMs} ms`)
      child.kill('SIGKILL')
    }, stopLimitMs)
    child.send({ kind: 'stop' })
    await once(child, 'exit')
    clearTimeout(timer)
  }

  // A process may also die between its turns, when nobody waits for it.
  #forgetOnExit(child) {
    child.on('error', () => child.kill('SIGKILL'))
    child.once('exit', () => {
      if (this.#child === child) this.#child = null
    })
  }

  async #receive(limitMs) {
    const child = this.#child
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
      this.#child = null
      child.kill('SIGKILL')
      throw error.name === 'AbortError' ? new Error(`no answer within ${limitMs} ms`) : error
    } finally {
      clearTimeout(timer)
      abort.abort()
    }
  }
}
