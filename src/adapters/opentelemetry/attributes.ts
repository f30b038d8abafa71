// The names of attributes, and the values that need a decision. Names without `lido.` are those of OpenTelemetry's semantic conventions.

import { isAbsolute } from 'node:path'
import { type Attributes, type Span, SpanStatusCode } from '@opentelemetry/api'
import type { PoolIdentity } from '../../index.js'

export const FUNCTION_NAME = 'code.function.name'
const FILE_PATH = 'code.file.path'
export const THREAD_ID = 'thread.id'
export const THREAD_NAME = 'thread.name'
export const ERROR_TYPE = 'error.type'
export const POOL_NAME = 'lido.pool.name'
const POOL_ID = 'lido.pool.id'
const TASK_ID = 'lido.task.id'
export const TASK_ATTEMPT = 'lido.task.attempt'
export const TASK_WAIT_TIME = 'lido.task.wait_time'
export const TASK_OUTCOME = 'lido.task.outcome'
export const WORKER_ID = 'lido.worker.id'
export const WORKER_STATE = 'lido.worker.state'
export const EXIT_REASON = 'lido.worker.exit.reason'

/** What the spans of host and worker say of a task. A function that is sent as text has no file. */
export function ofTask(task: {
  readonly pool: PoolIdentity
  readonly taskId: number
  readonly filename: string
  readonly name: string
}): Attributes {
  const { pool, taskId, filename, name } = task
  return {
    [FUNCTION_NAME]: name,
    ...(isAbsolute(filename) && { [FILE_PATH]: filename }),
    [POOL_NAME]: pool.label,
    [POOL_ID]: pool.id,
    [TASK_ID]: taskId,
  }
}

/** The value that the conventions give to errors without a class. */
const OTHER_ERROR = '_OTHER'
const MOST_CHARACTERS = 100
/** The class of an error, by its name. */
export function errorTypeOf(error: unknown): string {
  const name: unknown = (error as { name?: unknown } | null | undefined)?.name
  return typeof name === 'string' && name !== '' ? name.slice(0, MOST_CHARACTERS) : OTHER_ERROR
}

/** True for the error of a cancelled operation. The caller wanted this end, so it is no failure. */
export function isCancellation(error: unknown): boolean {
  return errorTypeOf(error) === 'AbortError'
}

/**
 * Sets the type of the error, and for a failure the status.
 * @param isRecorded adds an event with the message and the stack
 */
export function markFailed(span: Span, error: unknown, isFailure: boolean, isRecorded: boolean): void {
  span.setAttribute(ERROR_TYPE, errorTypeOf(error))
  if (!isFailure) return
  const message: unknown = (error as { message?: unknown } | null | undefined)?.message
  span.setStatus({ code: SpanStatusCode.ERROR, ...(typeof message === 'string' && { message }) })
  if (isRecorded) span.recordException(error instanceof Error ? error : String(errorText(error)))
}

function errorText(thrown: unknown): unknown {
  if (thrown !== null && typeof thrown === 'object')
    return (thrown as { message?: unknown }).message ?? 'object'
  return typeof thrown === 'symbol' ? thrown.description : thrown
}
