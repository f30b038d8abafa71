// A server of a set-up: starts on a free port, answers requests, and ends with all processes that it started.
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { dirname } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { freePort } from '../../examples/machines/database.js'
import { endGroup } from './project.js'

/** Frameworks must not send what they measure, and must not wait for an answer. */
export const quiet = {
  ASTRO_TELEMETRY_DISABLED: '1',
  NEXT_TELEMETRY_DISABLED: '1',
  NUXT_TELEMETRY_DISABLED: '1',
  CI: '1',
}

/**
 * Starts `node ...args(port)`, and passes the server to `use` when it answers requests.
 * @param node the path of Node
 */
export async function withServer({ node = process.execPath, args, cwd, env }, use) {
  const port = await freePort()
  const child = spawn(node, args(String(port)), {
    cwd,
    env: {
      PATH: `${dirname(node)}:${process.env.PATH}`,
      HOME: process.env.HOME,
      PORT: String(port),
      HOST: '127.0.0.1',
      HOSTNAME: '127.0.0.1',
      ...quiet,
      ...env,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
  })
  const server = new Server(`http://127.0.0.1:${port}`, child)
  const end = () => endGroup(child)
  process.once('exit', end)
  try {
    await server.answers()
    return await use(server)
  } catch (error) {
    error.message += `\n${server.output.slice(-4000)}`
    throw error
  } finally {
    process.off('exit', end)
    end()
  }
}

class Server {
  output = ''
  #origin
  #hasExited = false

  constructor(origin, child) {
    this.#origin = origin
    for (const stream of [child.stdout, child.stderr])
      stream.setEncoding('utf8').on('data', text => {
        this.output += text
      })
    child.once('exit', () => {
      this.#hasExited = true
    })
  }

  /** Resolves when the server answers requests. */
  async answers() {
    while (!(await this.#fetch('/'))) await this.#pause()
  }

  /** The JSON of an answer with the status 200. */
  async json(path) {
    const response = await fetch(this.#origin + path)
    const body = await response.text()
    assert.equal(response.status, 200, `${path} answered ${response.status}: ${body.slice(0, 2000)}`)
    return JSON.parse(body)
  }

  /** Asks until an answer passes `test`. A development server answers with errors while it restarts. */
  async jsonWhere(path, test) {
    const limit = AbortSignal.timeout(60_000)
    let text
    do {
      const response = await this.#fetch(path)
      text = (await response?.text().catch(() => null)) ?? 'nothing'
      if (response?.ok && test(JSON.parse(text))) return
      await this.#pause()
    } while (!limit.aborted)
    assert.fail(`No answer passes ${test}. The last answer is ${text.slice(0, 2000)}`)
  }

  #fetch(path) {
    // A development server that restarts may leave a request without an answer.
    return fetch(this.#origin + path, { signal: AbortSignal.timeout(5_000) }).catch(() => null)
  }

  async #pause() {
    assert.ok(!this.#hasExited, 'the server has exited')
    await delay(100)
  }
}
