// Handlers of the tests for lido/opentelemetry. A library inside starts a span of its own.
import { threadId } from 'node:worker_threads'
import { context, trace } from '@opentelemetry/api'

const tracer = trace.getTracer('library')
const work = () => tracer.startActiveSpan('inner', span => span.end())

export async function resize(id) {
  await null
  work()
  return id
}

export async function* pages(count) {
  for (let page = 0; page < count; page++) {
    await null
    work()
    yield page
  }
}

export const quick = () => {}
export const fails = () => {
  throw new TypeError('bad picture')
}
export const failsLater = async () => {
  await null
  throw new TypeError('bad picture')
}

/** Never ends. Sets the word when it starts. */
export function waits(words = new Int32Array(1)) {
  words[0] = 1
  return new Promise(() => {})
}

export const thread = () => threadId
export const activeSpan = () => trace.getSpan(context.active()).spanContext().spanId

/** Ends its worker, except the second one. */
export async function diesOnce(words) {
  work()
  if (Atomics.add(words, 0, 1) === 0) process.exit(1)
  return 'alive'
}

export function lasts(ms) {
  const end = performance.now() + ms
  while (performance.now() < end);
}
