// lido/body and lido/express in an ES module.
import type { IncomingMessage, ServerResponse } from 'node:http'
import { Pool } from 'lido'
import {
  type BodyReader,
  fastifyJson,
  fastifyNdjson,
  type HttpProblem,
  jsonReader,
  ndjsonReader,
  type Poisoning,
} from 'lido/body'
import { type BodyMiddleware, json, ndjson, runFor } from 'lido/express'
import { isTrue, type Same } from './checks.mjs'

const pool = new Pool<typeof import('./handler.mjs')>({ filename: '/handler.mjs' })
const poisoning: Poisoning = 'remove'
const parse: BodyMiddleware = json({
  pool,
  limit: '10mb',
  threshold: 65_536,
  maxDepth: 100,
  onProtoPoisoning: poisoning,
  module: () => import('./checks.mjs'),
  base: import.meta.url,
  select: 'total',
  type: request => request.headers['content-type'] === 'application/json',
})
// The middleware type of Express and connect.
const middleware: (
  request: IncomingMessage,
  response: ServerResponse,
  next: (error?: unknown) => void,
) => void = parse
ndjson({ maxLines: 10 })
// @ts-expect-error maxLines is an option of ndjson() only
json({ maxLines: 10 })
// @ts-expect-error a function cannot be sent to a worker
json({ reviver: (_key: string, value: unknown) => value })

interface Order {
  id: number
}
const read: BodyReader<Order> = jsonReader<Order>()
const readLines = ndjsonReader<Order>()

export async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
  middleware(request, response, () => {})
  try {
    const order = await read(request)
    isTrue<Same<typeof order, Order>>()
    const orders = await readLines(request)
    isTrue<Same<typeof orders, Order[]>>()
    const length = await runFor(request, pool, { id: 1, text: 'one' }, { timeout: 1_000 })
    isTrue<Same<typeof length, number>>()
    const unnamed = await runFor(request, pool, { id: 1, text: 'one' }, { name: undefined })
    isTrue<Same<typeof unnamed, number>>()
    const upper = await runFor(request, pool, 'one', { name: 'upper' })
    isTrue<Same<typeof upper, string>>()
    // @ts-expect-error upper takes a string
    await runFor(request, pool, 1, { name: 'upper' })
    // @ts-expect-error the default handler takes a Row
    await runFor(request, pool)
    await runFor(request, new Pool())
  } catch (error) {
    const { status, headers, type } = error as HttpProblem
    response.writeHead(status, headers && { ...headers }).end(type)
  }
  await read.close()
}

/** The part of Fastify's types that the plugins use. */
declare const fastify: {
  readonly initialConfig: object
  addContentTypeParser(
    type: string | string[] | RegExp,
    options: { parseAs: 'buffer' },
    parser: () => void,
  ): void
  getDefaultJsonParser(
    onProto: 'error' | 'remove' | 'ignore',
    onConstructor: 'error' | 'remove' | 'ignore',
  ): () => void
  addHook(name: 'onClose', hook: () => Promise<void>): void
}
fastifyJson({ pool, bodyLimit: 10_000_000 })(fastify, {}, () => {})
fastifyNdjson({ contentType: /^application\/x-lines/ })(fastify, {}, () => {})
