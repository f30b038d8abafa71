// body-parser, which reads the bodies of Express and node:http: from the user's packages, or as Express brings it.
import type { IncomingMessage, ServerResponse } from 'node:http'
import { createRequire } from 'node:module'
import { doorUrl } from './place.js'

export type Next = (error?: unknown) => void
export type Middleware = (request: IncomingMessage, response: ServerResponse, next: Next) => void

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
  const file = locate()
  const require = createRequire(file)
  return { bodyParser: require(file) as BodyParser, charsets: require.resolve('iconv-lite') }
}

function locate(): string {
  const require = createRequire(doorUrl)
  try {
    return require.resolve('body-parser')
  } catch (problem) {
    try {
      return createRequire(require.resolve('express')).resolve('body-parser')
    } catch {
      throw new Error(
        "Bodies are read by the package 'body-parser', which is not installed. Run: npm install body-parser",
        { cause: problem },
      )
    }
  }
}
