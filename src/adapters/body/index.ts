// The door `lido/body`: large JSON and NDJSON bodies are parsed in a pool.
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
export type { Poisoning } from './plan.js'
export type { HttpProblem } from './problems.js'
export { type BodyReader, jsonReader, ndjsonReader } from './reader.js'
export { runFor } from './run-for.js'
