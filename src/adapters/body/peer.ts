// body-parser, which reads the bodies of Express and node:http: from the user's packages, or as Express brings it.
import { createRequire } from 'node:module'
import type { RawRequest, RawResponse } from '../http/client.js'
import { doorUrl } from './place.js'

export type Next = (error?: unknown) => void
export type Middleware = (request: RawRequest, response: RawResponse, next: Next) => void

export interface BodyParser {
  json(options: object): Middleware
}

export interface Peer {
  readonly bodyParser: BodyParser
  /** The file of iconv-lite, which body-parser decodes with. */
  readonly charsets: string
}

let peer: Peer | null = null

export function findBodyParser(): Peer {
  peer ??= load()
  return peer
}

function load(): Peer {
  const require = requireThatFinds()
  const bodyParser = require('body-parser') as BodyParser
  return { bodyParser, charsets: createRequire(require.resolve('body-parser')).resolve('iconv-lite') }
}

function requireThatFinds(): NodeJS.Require {
  const own = createRequire(doorUrl)
  try {
    own.resolve('body-parser')
    return own
  } catch (problem) {
    try {
      const throughExpress = createRequire(own.resolve('express'))
      throughExpress.resolve('body-parser')
      return throughExpress
    } catch {
      throw new Error(
        "Bodies are read by the package 'body-parser', which is not installed. Run: npm install body-parser",
        { cause: problem },
      )
    }
  }
}
