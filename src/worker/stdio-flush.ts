// What a task printed is on its way before its answer is: an ending process then still shows it. Of a thread it is on its way
// when the host's event loop has taken in what was printed before, and a host may be busy.
import { Writable } from 'node:stream'
import { realClock } from './clock.js'

/** A host is busy for less, or what was printed may be lost. */
const LONGEST_WAIT_MS = 5000
/** At the end of a worker, for which its host waits. */
export const LONGEST_WAIT_AT_END_MS = 500

// Asked for once: a look at `process` takes longer than a small task. They are made by the first look, not by the import.
let streams: { stdout: NodeJS.WriteStream; stderr: NodeJS.WriteStream } | null = null
/** Something was waited for in vain and is not written yet: one wait is enough. */
let isStuck = false

/** A promise when something is still to be written, nothing otherwise. */
export function flushStdio(longestMs = LONGEST_WAIT_MS): Promise<unknown> | undefined {
  streams ??= { stdout: process.stdout, stderr: process.stderr }
  const { stdout, stderr } = streams
  if (isStuck || (stdout.writableLength === 0 && stderr.writableLength === 0)) return undefined
  return writtenWithin(longestMs, Promise.all([written(stdout), written(stderr)]))
}

/** Where nobody reads any more, nothing is ever written out. */
function writtenWithin(longestMs: number, allWritten: Promise<unknown>): Promise<void> {
  return new Promise(resolve => {
    const limit = realClock.after(longestMs, () => {
      isStuck = true
      resolve()
    })
    void allWritten.then(() => {
      limit.cancel()
      isStuck = false
      resolve()
    })
  })
}

function written(stream: NodeJS.WriteStream): Promise<void> | undefined {
  if (stream.writableLength === 0) return undefined
  // Not `stream.write`: a handler may have put another in its place, to listen to what is printed.
  const { write, end } = Writable.prototype
  return new Promise(resolve => {
    // A write after the end that a handler gave it is an error of the stream's, and nobody's to catch.
    if (stream.writableEnded) end.call(stream, undefined, 'utf8', () => resolve())
    else write.call(stream, '', 'utf8', () => resolve())
  })
}
