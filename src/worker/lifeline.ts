// Ends this process when its host is no more, even while a handler keeps the main thread busy: a thread of its own holds the
// end of a pipe that only the host's life keeps open.
import { Worker } from 'node:worker_threads'

/** For what the main thread does by itself when the host is gone. */
const GRACE_MS = 500

const program = `
  const { Socket } = require('node:net')
  const { workerData } = require('node:worker_threads')
  const end = () => process.kill(process.pid, 'SIGKILL')
  const line = new Socket({ fd: workerData.fd, readable: true, writable: false })
  line.on('error', () => {}).on('close', () => setTimeout(end, workerData.graceMs)).resume()
`

/** Without it the worker lives on; it leaves by itself as soon as its event loop turns. */
export function holdLifeline(fd: number): void {
  try {
    const holder = new Worker(program, {
      eval: true,
      name: 'lido lifeline',
      // None of the user's: his hooks are for his own threads.
      execArgv: [],
      env: {},
      workerData: { fd, graceMs: GRACE_MS },
      resourceLimits: { maxOldGenerationSizeMb: 16, maxYoungGenerationSizeMb: 2 },
    })
    holder.on('error', () => {})
    holder.unref()
  } catch {
    // The process may have no threads, as under `--permission`.
  }
}
