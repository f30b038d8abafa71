// The spans that a test and its workers have ended. See instrumentation.js.
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { openFolder } from '../../helpers/folder.js'

/** Call it before the pool is created, because workers copy the environment. */
export function recordSpans(t) {
  const file = join(openFolder(t).path, 'spans.jsonl')
  writeFileSync(file, '')
  process.env.LIDO_SPANS = file
  return {
    file,
    read() {
      const lines = readFileSync(file, 'utf8').split('\n').filter(Boolean)
      return new Spans(lines.map(line => JSON.parse(line)))
    },
  }
}

class Spans {
  constructor(all) {
    this.all = all
  }

  named(name) {
    return this.all.filter(span => span.name === name)
  }

  one(name) {
    const found = this.named(name)
    if (found.length !== 1) throw new Error(`${found.length} spans '${name}' in ${this.names().join(', ')}`)
    return found[0]
  }

  below({ id }) {
    return this.all.filter(({ parent }) => parent === id)
  }

  names() {
    return this.all.map(({ name }) => name)
  }

  /** A span and all below it, as `{ name: [children] }`. */
  tree(span) {
    return { [span.name]: this.below(span).map(child => this.tree(child)) }
  }
}
