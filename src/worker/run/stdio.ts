// Writes out what a task printed before its answer is sent, so that an ending process still shows it. The output of a thread is
// written when the host's event loop has read it, and the host may be busy.
import { workerClock } from './clock.js'

/** Output may be lost when the host is busy for longer. */
const FLUSH_MS = 5000
/** The host waits for a worker that ends. */
export const FLUSH_AT_END_MS = 500

/** Kept, because a read of `process.stdout` takes longer than a small task. The first read creates the streams. */
let streams: { stdout: NodeJS.WriteStream; stderr: NodeJS.WriteStream } | null = null
/** A flush has timed out and its output is still not written. No other task waits for it. */
let isStuck = false

/** Returns a promise while output is still to be written, `undefined` otherwise. */
export function flushStdio(longestMs = FLUSH_MS): Promise<unknown> | undefined {
  streams ??= { stdout: process.stdout, stderr: process.stderr }
  const { stdout, stderr } = streams
  if (isStuck || (stdout.writableLength === 0 && stderr.writableLength === 0)) return undefined
  return withTimeout(longestMs, Promise.all([written(stdout), written(stderr)]))
}

/** Output is never written where nobody reads the stream. */
function withTimeout(longestMs: number, allWritten: Promise<unknown>): Promise<void> {
  return new Promise(resolve => {
    const timeout = workerClock.after(longestMs, () => {
      isStuck = true
      resolve()
    })
    void allWritten.then(() => {
      timeout.cancel()
      isStuck = false
      resolve()
    })
  })
}

function written(stream: NodeJS.WriteStream): Promise<void> | undefined {
  if (stream.writableLength === 0 || stream.writableEnded) return undefined
  return new Promise(resolve => stream.write('', () => resolve()))
}
