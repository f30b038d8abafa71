// Entry point `lido/body`: parses large JSON and NDJSON bodies in a pool.
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
