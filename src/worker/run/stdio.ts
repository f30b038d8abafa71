// Flushes the output of a task before its answer is sent, so that the output is not lost when the process then exits.
// The output of a thread is written only when the host's event loop has read it, and the host may be busy.
import { workerClock } from './clock.js'

/** The longest flush before an answer. Output may be lost when the host is busy for longer. */
const FLUSH_MS = 5000
/** The longest flush before the worker exits, because the host waits for the exit. */
export const FLUSH_AT_END_MS = 500
/** The same for a worker that the host is about to kill. */
export const FLUSH_AT_STOP_MS = 50

/** Cached, because reading `process.stdout` takes longer than a small task. The first read creates the streams. */
let streams: { stdout: NodeJS.WriteStream; stderr: NodeJS.WriteStream } | null = null
/** A flush has timed out, and its output is still unwritten. Later tasks do not wait. */
let isStuck = false

/** Returns a promise while output is unwritten, otherwise `undefined`. */
export function flushStdio(longestMs = FLUSH_MS): Promise<unknown> | undefined {
  streams ??= { stdout: process.stdout, stderr: process.stderr }
  const { stdout, stderr } = streams
  if (isStuck || (stdout.writableLength === 0 && stderr.writableLength === 0)) return undefined
  return withTimeout(longestMs, Promise.all([written(stdout), written(stderr)]))
}

/** The timeout is necessary, because output is never written if the host does not read the stream. */
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
