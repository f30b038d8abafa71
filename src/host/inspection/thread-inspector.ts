// Profiles threads by the inspector of their process, for versions of Node without `worker.startCpuProfile()`. The inspector
// interrupts a thread that computes, and needs no code in the thread.

import { getBuiltinModule } from '../../shared/platform/node-modules.js'
import type { RawProfile } from '../../shared/platform/own-profile.js'

export interface InspectedThread {
  startProfile(title: string): Promise<void>
  endProfile(title: string): Promise<RawProfile | null>
}

type Answer = (result: unknown) => void

interface FromThread {
  id?: number
  method?: string
  result?: unknown
  params?: { title?: string; profile?: RawProfile }
}

export class ThreadInspector {
  readonly #session: import('node:inspector').Session
  /** By the id of the thread: the id of its session. */
  readonly #attached = new Map<string, string>()
  readonly #waiting = new Map<string, (() => void)[]>()
  readonly #answers = new Map<number, Answer>()
  readonly #profiles = new Map<string, (profile: RawProfile | null) => void>()
  #count = 0

  /** Attaches to all threads of the process. Throws when Node has no inspector. */
  constructor() {
    const { Session } = getBuiltinModule('node:inspector')
    this.#session = new Session()
    this.#session.connect()
    this.#session.on('NodeWorker.attachedToWorker', ({ params: { sessionId, workerInfo } }) => {
      // `workerId` counts the threads of this session. The title starts with `[worker 3]`, the id of the thread.
      const key = /^\[worker (\d+)\]/.exec(workerInfo.title)?.[1] ?? workerInfo.workerId
      this.#attached.set(key, sessionId)
      for (const resume of this.#waiting.get(key)?.splice(0) ?? []) resume()
    })
    this.#session.on('NodeWorker.receivedMessageFromWorker', ({ params: { message } }) =>
      this.#receive(JSON.parse(message) as FromThread),
    )
    this.#session.post('NodeWorker.enable', { waitForDebuggerOnStart: false })
  }

  /** Resolves when the thread can be profiled. */
  async attach(threadId: number): Promise<InspectedThread> {
    const key = String(threadId)
    if (!this.#attached.has(key)) {
      await new Promise<void>(resolve => {
        const waiting = this.#waiting.get(key) ?? []
        waiting.push(resolve)
        this.#waiting.set(key, waiting)
      })
    }
    const sessionId = this.#attached.get(key)!
    await this.#post(sessionId, 'Profiler.enable', {})
    return {
      startProfile: async title => {
        await this.#evaluate(sessionId, `profile(${JSON.stringify(title)})`)
      },
      endProfile: title => {
        const profile = new Promise<RawProfile | null>(resolve => this.#profiles.set(title, resolve))
        void this.#evaluate(sessionId, `profileEnd(${JSON.stringify(title)})`)
        return profile
      },
    }
  }

  /** `profile()` of the inspector's console runs several profiles at once, in contrast to `Profiler.start`. */
  #evaluate(sessionId: string, expression: string): Promise<unknown> {
    return this.#post(sessionId, 'Runtime.evaluate', {
      expression,
      includeCommandLineAPI: true,
      silent: true,
    })
  }

  #post(sessionId: string, method: string, params: object): Promise<unknown> {
    const id = ++this.#count
    return new Promise((resolve, reject) => {
      this.#answers.set(id, resolve)
      const message = JSON.stringify({ id, method, params })
      this.#session.post('NodeWorker.sendMessageToWorker', { sessionId, message }, failure => {
        if (failure !== null) reject(failure)
      })
    })
  }

  #receive({ id, method, result, params }: FromThread): void {
    if (id !== undefined) {
      this.#answers.get(id)?.(result)
      this.#answers.delete(id)
    } else if (method === 'Profiler.consoleProfileFinished' && params?.title !== undefined) {
      this.#profiles.get(params.title)?.(params.profile ?? null)
      this.#profiles.delete(params.title)
    }
  }

  end(): void {
    this.#session.post('NodeWorker.disable')
    this.#session.disconnect()
  }
}
