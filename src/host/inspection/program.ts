// Inspects a whole program: the socket of `LIDO_INSPECT=1`, and the recording of `npx lido trace app.js`.
import { realClock } from '../../shared/platform/clock.js'
import { getBuiltinModule } from '../../shared/platform/node-modules.js'
import { type InspectedPools, inspectedPools } from './inspected-pools.js'
import { openSocket } from './socket.js'
import { TraceRecorder } from './trace.js'

export interface ProgramRecording {
  /** The absolute path of the file. */
  readonly file: string
  /** Keeps the last seconds. `null`: all. */
  readonly seconds: number | null
  readonly cpu: boolean
}

/** A program that calls `process.exit()` loses so much of the profiles of its workers. */
const PIECE_MS = 250
const ENDING_SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const

/** The list of the program's pools. The first call opens the socket. */
export function openInspection(): InspectedPools {
  const { pools, isNew } = inspectedPools()
  if (isNew) void openSocket(pools)
  return pools
}

/**
 * Records all pools of the program from now on, and writes the file when the program ends. Call it before the program runs. It changes
 * neither when the program ends, nor its exit code, nor its signal.
 */
export function recordProgram({ file, seconds, cpu }: ProgramRecording): void {
  const { pools } = inspectedPools()
  if (process.env.LIDO_INSPECT === '1') void openSocket(pools)
  const keepMs = seconds === null ? Number.POSITIVE_INFINITY : seconds * 1000
  const recorder = new TraceRecorder([], { cpu, keepMs, keepsAlive: false, pieceMs: PIECE_MS })
  recorder.start().catch(warn)
  pools.onAdd(pool => recorder.add(pool))
  new ProgramEnd(recorder, file).watch()
}

type Pieces = { pieces(): Iterable<string> }

/** Writes the file of a recording at the end of the program, however it ends. */
class ProgramEnd {
  readonly #recorder: TraceRecorder
  readonly #file: string
  #isWritten = false
  #finishing: Promise<void> | null = null

  constructor(recorder: TraceRecorder, file: string) {
    this.#recorder = recorder
    this.#file = file
  }

  watch(): void {
    process.once('beforeExit', () => void this.#finish())
    // After `process.exit()` and after an uncaught exception nothing asynchronous runs.
    process.once('exit', () => {
      if (!this.#isWritten) this.#write(this.#recorder.snapshot())
    })
    for (const signal of ENDING_SIGNALS) {
      const onSignal = (): void => {
        if (process.listenerCount(signal) > 1) {
          // The program decides what the signal does, and may end without another event. Its libraries count the listeners.
          process.off(signal, onSignal)
          this.#write(this.#recorder.snapshot())
          return
        }
        void this.#finish().then(() => {
          process.off(signal, onSignal)
          process.kill(process.pid, signal)
        })
      }
      process.on(signal, onSignal)
    }
  }

  /** A signal may come twice, from the terminal and from the command. The second one waits for the file, too. */
  #finish(): Promise<void> {
    this.#finishing ??= this.#stopAndWrite()
    return this.#finishing
  }

  /** The profiles of workers arrive by messages. Nothing else may keep the process alive until then. */
  async #stopAndWrite(): Promise<void> {
    const anchor = realClock.anchor()
    anchor.hold()
    try {
      this.#write(await this.#recorder.stop())
      this.#isWritten = true
    } catch (failure) {
      warn(failure)
    } finally {
      anchor.drop()
    }
  }

  /** A file that cannot be written must not change how the program ends. The command says that it is missing. */
  #write(trace: Pieces): void {
    const { openSync, writeFileSync, closeSync } = getBuiltinModule('node:fs')
    try {
      const descriptor = openSync(this.#file, 'w')
      for (const piece of trace.pieces()) writeFileSync(descriptor, piece)
      closeSync(descriptor)
    } catch (failure) {
      warn(failure)
    }
  }
}

function warn(failure: unknown): void {
  process.emitWarning(`The trace cannot be written. ${(failure as Error).message}`, {
    type: 'LidoWarning',
    code: 'LIDO_TRACE',
  })
}
