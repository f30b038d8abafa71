// Handlers that read the context of the caller, and start a span as a library does.
import { trace } from '@opentelemetry/api'
import { context } from 'lido/worker'
import { request } from './context.js'

const tracer = trace.getTracer('library')

export async function resize(payload) {
  await null
  tracer.startActiveSpan('inner', span => span.end())
  // JSON keeps no undefined field, and the test reads results of plain clients, too.
  return { payload, request: request.getStore() ?? null }
}

export async function secondAttempt() {
  await null
  if (context.job.attempt === 1) throw new Error('the first attempt')
  return request.getStore()
}
