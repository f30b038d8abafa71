// Whether a process died of its heap limit, from the runtime's own report of it. It goes into a file that has no name any more,
// so that nothing of it stays on the disk whoever dies first. Elsewhere than on Linux no process can open such a file.

import { tmpdir } from '../../shared/platform/host-node-modules.js'
import {
  closeSync,
  getBuiltinModule,
  join,
  openSync,
  readSync,
  unlinkSync,
} from '../../shared/platform/node-modules.js'

/** The report begins with why it was written; `process.abort()` and failed checks of native code write none. */
const HEAD_BYTES = 1024
const MEMORY = /"trigger":\s*"OOMError"/

export class FatalReport {
  readonly fd: number

  private constructor(fd: number) {
    this.fd = fd
  }

  /** `null` where there can be none; then nobody knows. */
  static open(): FatalReport | null {
    if (process.platform !== 'linux') return null
    // Asked for here: a program without such workers does not load it.
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

  /** To be asked when the process has ended. */
  tellsOfMemory(): boolean {
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

/** As the runtime says it of a thread. */
export function memoryFailure(): Error {
  const failure = new Error('The process aborted: JavaScript heap out of memory')
  return Object.assign(failure, { code: 'ERR_WORKER_OUT_OF_MEMORY' })
}
