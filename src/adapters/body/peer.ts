// body-parser, which reads the bodies of Express and node:http: the one that Express brings, which reads as its own parser does,
// else the user's.
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
    const throughExpress = createRequire(own.resolve('express'))
    throughExpress.resolve('body-parser')
    return throughExpress
  } catch {
    try {
      own.resolve('body-parser')
      return own
    } catch (problem) {
      throw new Error(complaintAbout(problem), { cause: problem })
    }
  }
}

function complaintAbout(problem: unknown): string {
  if ((problem as NodeJS.ErrnoException | null)?.code === 'MODULE_NOT_FOUND')
    return "Bodies are read by the package 'body-parser', which is not installed. Run: npm install body-parser"
  return "The package 'body-parser' cannot be looked for from here: lido is part of a bundle. Leave lido out of the bundle, and install it where the program runs."
}
