// What a call asks for, apart from where it stands.
import type { Handler } from '../../shared/messages/handler.js'
import type { TransferItem } from '../../shared/messages/move.js'
import type { RetrySettings } from './retry.js'
import type { Limits } from './time-limits.js'

/** What a call says beside its payload. One object for all calls that leave it to the pool. */
export interface CallTerms {
  readonly handler: Handler
  readonly transferList: readonly TransferItem[]
  readonly signal: AbortSignal | null
  readonly limits: Limits | null
  /** The task has its worker to itself. */
  readonly isExclusive: boolean
  readonly priority: number
  readonly queueOptions: unknown
  readonly retry: RetrySettings | null
}

export interface Call {
  readonly payload: unknown
  readonly terms: CallTerms
}
