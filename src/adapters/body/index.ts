/**
 * Parses large JSON and NDJSON bodies in a pool.
 * @module
 * @see [lido/body](https://OWNER.github.io/lido/reference/body.html)
 */

export {
  type FastifyBodyDoor,
  type FastifyBodyPlugin,
  type FastifyInstanceLike,
  type FastifyJsonOptions,
  type FastifyNdjsonOptions,
  fastifyJson,
  fastifyNdjson,
} from './fastify.js'
export { type BodyMiddleware, json, ndjson } from './middleware.js'
export type { JsonOptions, NdjsonOptions, ParseOptions, ReadOptions } from './options.js'
export type { Poisoning } from './parse-plan.js'
export type { HttpProblem } from './problems.js'
export { type BodyReader, jsonReader, ndjsonReader } from './reader.js'
export { runFor } from './run-for.js'
