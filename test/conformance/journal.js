// What handlers wrote down, as facts to wait for, and the gates they wait at.
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

  /** A payload for `gated`. */
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

  /** Resolves with the lines when there are so many. */
  async lines(count) {
    for (;;) {
      const { written } = this
      if (written.length >= count) return written
      await sleep(LOOK_AGAIN_MS)
    }
  }
}
