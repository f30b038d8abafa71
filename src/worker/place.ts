// Where this worker lives, as far as its work must know: how it speaks to the host, and how it ends. Each entry makes one.
import type { HostPort } from '../shared/messages/messages.js'
import type { Executor } from './executor.js'
import type { Intake } from './intake.js'

export interface Place {
  /** The worker has its thread to itself. */
  readonly isThreadsOwn: boolean
  readonly port: HostPort
  makeIntake(executor: Executor): Intake
  /** A promise when something that was printed is still to be written, nothing otherwise. It is fulfilled in `longestMs`. */
  flush(longestMs?: number): Promise<unknown> | undefined
  /** Calls back when the worker ends by whatever it does itself. */
  onEnd(callback: () => void): void
  /** Calls back with what the worker is about to die of. */
  onCrash(callback: (failure: unknown) => void): void
  /** Ends the worker. */
  end(exitCode?: number): void
}
