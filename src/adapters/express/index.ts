// The door `lido/express`: what of `lido/body` is for Express.
export {
  type BodyMiddleware,
  type HttpProblem,
  type JsonOptions,
  json,
  type NdjsonOptions,
  ndjson,
  runFor,
} from '../body/index.js'
