// Opens pools whose handlers, in `keyed.js`, note their starts and ends, and finds broken orders in these notes.
import { EventEmitter, once } from 'node:events'
import { readFileSync } from 'node:fs'
import { openFolder } from './folder.js'
import { handler } from './handler.js'

export function openKeyed(open, t, options) {
  const file = openFolder(t).write('notes', '')
  const pool = open({ filename: handler('keyed.js'), maxWorkers: 2, ...options })
  /** The notes in their order. */
  const notes = () => {
    const lines = readFileSync(file, 'utf8').split('\n').slice(0, -1)
    return lines.map(line => {
      const [word, key, n, run] = line.split(' ')
      return { word, key, n: Number(n), run }
    })
  }
  /** The notes of one key, such as '+0 -0 +1': task 0 has started and ended, and task 1 has started. */
  const ran = key =>
    notes()
      .filter(note => note.key === key && note.word !== 'tick')
      .map(({ word, n }) => `${word === 'start' ? '+' : '-'}${n}`)
      .join(' ')
  const payload = (key, n, traits) => ({ file, key, n, ...traits })
  const run = (key, n, options, traits) => pool.run(payload(key, n, traits), { key, ...options })
  return { pool, notes, ran, payload, run }
}

/** The first broken rule: starts follow the order of the calls, and no run goes on after a later start. `null`: none. */
export function wrongIn(notes) {
  const lines = new Map()
  for (const { word, key, n, run } of notes) {
    const line = lines.get(key) ?? { n: -1, run: null }
    if (word !== 'start' && line.run !== run) return `run ${n} of ${key} goes on after a later start`
    if (word === 'start' && n < line.n) return `run ${n} of ${key} starts after run ${line.n}`
    lines.set(key, { n, run: word === 'end' ? null : run })
  }
  return null
}

/** A function for the handler `asks`. The test learns that a task waits for it, and decides when it answers. */
export function gate() {
  const waiting = new Map()
  const asking = new EventEmitter()
  const ask = n =>
    new Promise(resolve => {
      waiting.set(n, resolve)
      asking.emit('ask')
    })
  const asked = async n => {
    while (!waiting.has(n)) await once(asking, 'ask')
  }
  const open = async (n, answer = n) => {
    await asked(n)
    waiting.get(n)(answer)
    waiting.delete(n)
  }
  return { options: { name: 'asks', functions: { ask } }, asked, open }
}

/** Resolves when the handler has reported that it runs. */
export function started(start) {
  return new Promise(resolve => {
    const call = start({ onProgress: () => resolve({ call }) })
    call.catch(() => {})
  })
}
