// A file in which handlers write lines that a test waits for, and the gate files that handlers wait for.
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { openFolder } from '../helpers/folder.js'

const LOOK_AGAIN_MS = 2

export class Journal {
  #folder

  constructor(t) {
    this.#folder = openFolder(t)
    this.path = join(this.#folder.path, 'journal')
  }

  /** The payload of a `gated` task. */
  task(name, gate = 'gate') {
    return { journal: this.path, gate: join(this.#folder.path, gate), name }
  }

  open(gate = 'gate') {
    writeFileSync(join(this.#folder.path, gate), '')
  }

  write(name, text) {
    return this.#folder.write(name, text)
  }

  get written() {
    return existsSync(this.path) ? readFileSync(this.path, 'utf8').split('\n').slice(0, -1) : []
  }

  /** Resolves with the lines when there are at least `count`. */
  async lines(count) {
    for (;;) {
      const { written } = this
      if (written.length >= count) return written
      await sleep(LOOK_AGAIN_MS)
    }
  }
}
