// What tasks did, as lines that they add to a file, and the gate that some of them wait for. Files, because they reach
// from threads, from processes, and from workers that die in the next moment.
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { until } from './expect.js'

export class Facts {
  constructor(folder) {
    this.folder = folder
    this.file = join(folder, 'facts')
    this.gate = join(folder, 'gate')
  }

  lines(beginning = '') {
    if (!existsSync(this.file)) return []
    const lines = readFileSync(this.file, 'utf8').split('\n').slice(0, -1)
    return lines.filter(line => line.startsWith(beginning))
  }

  /** The numbers behind a word, in the order in which they were noted. */
  numbers(word) {
    return this.lines(`${word} `).map(line => Number(line.slice(word.length + 1)))
  }

  reach(count, beginning) {
    return until(
      () => this.lines(beginning).length >= count,
      () => `${this.lines(beginning).length} of ${count} times '${beginning}'`,
    )
  }

  openGate() {
    writeFileSync(this.gate, '')
  }
}
