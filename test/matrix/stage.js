// The files of a case: the journal of its handlers, the gates at which they wait, and its own file of handlers.

import { dirname } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { Journal } from '../conformance/journal.js'
import { handler } from '../helpers/handler.js'

const LOOK_AGAIN_MS = 1
const BLOCK_LIMIT_MS = 30_000
const asleep = new Int32Array(new SharedArrayBuffer(4))

export class Stage {
  #journal
  #remove = () => {}
  #isRemoved = false

  constructor({ outcome, fate, backend }) {
    this.#journal = new Journal({
      after: remove => {
        this.#remove = remove
      },
    })
    this.folder = dirname(this.#journal.path)
    const atStart = { throwsAtStart: 'throws', exitsAtStart: 'exits' }[fate]
    const isDoomed = fate === 'exits' || fate === 'crashes'
    const spec = JSON.stringify({ folder: this.folder, outcome, atStart, isDoomed, backend })
    this.filename = this.#journal.write(
      'handlers.mjs',
      `import { handlersOf } from '${handler('matrix.js')}'\n` +
        `const handlers = await handlersOf(${spec})\n` +
        'export const { subject, subjectStream, other, exitIdle } = handlers\n',
    )
  }

  open(gate) {
    this.#journal.open(gate)
  }

  get lines() {
    return this.#journal.written
  }

  /** The number of times that the line was written. */
  count(line) {
    return this.lines.filter(written => written === line).length
  }

  /** Resolves when the line is written. */
  async said(line) {
    while (!this.#isRemoved && this.count(line) === 0) await sleep(LOOK_AGAIN_MS)
  }

  /** Blocks the thread until the line is written. Meanwhile the host cannot read any answer. */
  blockUntilSaid(line) {
    const deadline = performance.now() + BLOCK_LIMIT_MS
    while (this.count(line) === 0) {
      if (performance.now() > deadline)
        throw new Error(`no handler wrote '${line}' within ${BLOCK_LIMIT_MS} ms`)
      Atomics.wait(asleep, 0, 0, LOOK_AGAIN_MS)
    }
  }

  block(durationMs) {
    Atomics.wait(asleep, 0, 0, durationMs)
  }

  remove() {
    this.#isRemoved = true
    this.#remove()
  }
}
