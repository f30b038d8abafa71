// Keeps the result file. Parts come in any order and are written in that of their numbers, so every way of doing
// the work must give the same bytes; the checksum of all of them is the answer that is compared.
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { createWriteStream } from 'node:fs'
import { finished } from 'node:stream/promises'

export class OrderedFile {
  #stream
  #hash = createHash('sha256')
  #early = new Map()
  #nextNumber = 0

  constructor(path) {
    this.#stream = createWriteStream(path)
  }

  put(number, text) {
    this.#early.set(number, text)
    while (this.#early.has(this.#nextNumber)) {
      const next = this.#early.get(this.#nextNumber)
      this.#early.delete(this.#nextNumber++)
      this.#hash.update(next)
      this.#stream.write(next)
    }
  }

  async room() {
    if (this.#stream.writableNeedDrain) await once(this.#stream, 'drain')
  }

  async finish() {
    this.#stream.end()
    await finished(this.#stream)
    return this.#hash.digest('hex')
  }
}
