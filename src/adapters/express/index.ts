// Entry point `lido/express`: the exports of `lido/body` that Express can use.
export {
  type BodyMiddleware,
  type HttpProblem,
  type JsonOptions,
  json,
  type NdjsonOptions,
  ndjson,
  runFor,
} from '../body/index.js'
