/**
 * The exports of `lido/body` that Express can use: `json()`, `ndjson()` and `runFor()`.
 * @module
 * @see [lido/express](https://OWNER.github.io/lido/guides/express.html)
 */

export {
  type BodyMiddleware,
  type HttpProblem,
  type JsonOptions,
  json,
  type NdjsonOptions,
  ndjson,
  runFor,
} from '../body/index.js'
