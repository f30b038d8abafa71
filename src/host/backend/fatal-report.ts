// Finds out from Node's diagnostic report whether a process reached its heap limit. Node writes the report into a file
// that is already deleted, so no file stays on the disk. Only on Linux can another process write to such a file.
import { tmpdir } from '../../shared/platform/host-node-modules.js'
import {
  closeSync,
  getBuiltinModule,
  join,
  openSync,
  readSync,
  unlinkSync,
} from '../../shared/platform/node-modules.js'

/** The trigger is at the start of the report. `process.abort()` and failed checks of native code write no report. */
const HEAD_BYTES = 1024
const MEMORY = /"trigger":\s*"OOMError"/

export class FatalReport {
  readonly fd: number

  private constructor(fd: number) {
    this.fd = fd
  }

  /** Returns `null` when the host cannot open such a file. Then the reason stays unknown. */
  static open(): FatalReport | null {
    if (process.platform !== 'linux') return null
    // Loaded here: programs without processes do not need it.
    const { randomUUID } = getBuiltinModule('node:crypto')
    const path = join(tmpdir(), `lido-${randomUUID()}`)
    try {
      const fd = openSync(path, 'wx+', 0o600)
      unlinkSync(path)
      return new FatalReport(fd)
    } catch {
      return null
    }
  }

  /** Call it after the process has ended. */
  isOutOfMemory(): boolean {
    const head = Buffer.alloc(HEAD_BYTES)
    try {
      return MEMORY.test(head.toString('latin1', 0, readSync(this.fd, head, 0, HEAD_BYTES, 0)))
    } catch {
      return false
    }
  }

  close(): void {
    closeSync(this.fd)
  }
}

/** The error that Node gives for a thread in this case. */
export function memoryFailure(): Error {
  const failure = new Error('The process aborted: JavaScript heap out of memory')
  return Object.assign(failure, { code: 'ERR_WORKER_OUT_OF_MEMORY' })
}
