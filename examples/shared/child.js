// A child process of an example, seen from the parent. Each way of doing the work has a process of its own, with its own memory, event
// loop and threads. Messages are `{ kind, ... }`. parent.js is the other side.
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'

export class Child {
  #process
  #received = []
  #waiting = new Map()
  #failure = null

  constructor(moduleUrl, settings, env = {}) {
    const options = { serialization: 'advanced', env: { ...process.env, ...env } }
    this.#process = fork(fileURLToPath(moduleUrl), [], options)
    this.#process.on('message', message => this.#receive(message))
    this.#process.on('error', error => this.#fail(error))
    this.#process.on('exit', (code, signal) => {
      this.#fail(new Error(`the child process ended early (${signal ?? `exit code ${code}`})`))
    })
    this.send({ kind: 'settings', settings })
  }

  onProgress = () => {}

  send(message) {
    this.#process.send(message)
  }

  next(kind) {
    const index = this.#received.findIndex(message => message.kind === kind)
    if (index >= 0) return Promise.resolve(this.#received.splice(index, 1)[0])
    if (this.#failure) return Promise.reject(this.#failure)
    return new Promise((resolve, reject) => this.#waiting.set(kind, { resolve, reject }))
  }

  async ask(kind, answerKind) {
    this.send({ kind })
    return this.next(answerKind)
  }

  /** Asks the program to exit. Throws when its exit code is not 0. */
  async end() {
    if (this.#failure) return
    const ended = once(this.#process, 'exit')
    this.#process.kill()
    const [exitCode] = await ended
    if (exitCode) throw new Error(`the child process was asked to exit, and its exit code is ${exitCode}`)
  }

  #receive(message) {
    if (message.kind === 'progress') return this.onProgress(message)
    const waiter = this.#waiting.get(message.kind)
    if (!waiter) return this.#received.push(message)
    this.#waiting.delete(message.kind)
    return waiter.resolve(message)
  }

  #fail(error) {
    this.#failure ??= error
    for (const { reject } of this.#waiting.values()) reject(error)
    this.#waiting.clear()
  }
}

export async function runChild(moduleUrl, settings, onProgress = () => {}) {
  const child = new Child(moduleUrl, settings)
  child.onProgress = onProgress
  try {
    return (await child.next('figures')).figures
  } finally {
    await child.end()
  }
}
