// Takes CPU profiles of this thread. Several may run at once, so that the next one can start before the last one stops.
import { getBuiltinModule } from './node-modules.js'

/** A CPU profile as V8 gives it. Times are microseconds on the clock of `process.hrtime()`. */
export interface RawProfile {
  nodes: RawNode[]
  startTime: number
  endTime: number
  /** The ids of nodes. */
  samples: number[]
  /** From each sample to the next one. */
  timeDeltas: number[]
}

export interface RawNode {
  id: number
  callFrame: { functionName: string; scriptId: string; url: string; lineNumber: number; columnNumber: number }
  hitCount?: number
  children?: number[]
}

type StartCpuProfile = () => { stop(): string }

export class OwnProfiler {
  #session: import('node:inspector').Session | null = null
  /** Ends the profile that runs, and returns it as JSON. */
  #stop: (() => string) | null = null
  #count = 0

  /** Throws when Node cannot profile. */
  start(): void {
    const { startCpuProfile } = getBuiltinModule('node:v8') as { startCpuProfile?: StartCpuProfile }
    if (startCpuProfile !== undefined && this.#session === null) {
      const handle = startCpuProfile()
      this.#stop = () => handle.stop()
    } else this.#stop = this.#startByInspector()
  }

  /** Starts a profile, then ends the one before and returns it. */
  next(): string | null {
    const stopLast = this.#stop
    this.start()
    return stopLast?.() ?? null
  }

  stop(): string | null {
    const profile = this.#stop?.() ?? null
    this.#stop = null
    this.#session?.disconnect()
    this.#session = null
    return profile
  }

  /** `console.profile()` of the inspector runs several profiles at once, in contrast to `Profiler.start`. */
  #startByInspector(): () => string {
    const inspector = getBuiltinModule('node:inspector')
    const { console } = inspector as unknown as {
      console: { profile(title: string): void; profileEnd(title: string): void }
    }
    if (this.#session === null) {
      this.#session = new inspector.Session()
      this.#session.connect()
      this.#session.post('Profiler.enable')
    }
    const session = this.#session
    const title = `lido ${++this.#count}`
    console.profile(title)
    return () => {
      let profile: unknown
      const onFinished = ({
        params,
      }: import('node:inspector').InspectorNotification<
        import('node:inspector').Profiler.ConsoleProfileFinishedEventDataType
      >) => {
        if (params.title === title) profile = params.profile
      }
      session.on('Profiler.consoleProfileFinished', onFinished)
      console.profileEnd(title)
      session.off('Profiler.consoleProfileFinished', onFinished)
      return JSON.stringify(profile ?? null)
    }
  }
}
