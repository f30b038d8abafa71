// How to parse a body, and the outcome. Both are plain data, because they cross threads.

/** The rule for keys that can change a prototype when an object is copied carelessly. */
export type Poisoning = 'error' | 'remove' | 'ignore'

export interface ParsePlan {
  readonly format: 'json' | 'lines'
  readonly charset: string
  /** The file of iconv-lite, for other charsets than UTF-8. `null`: only UTF-8 is accepted. */
  readonly charsets: string | null
  /** Only an object or an array is a body. */
  readonly isStrict: boolean
  /** An empty body is `{}`, as in body-parser. Fastify refuses it. */
  readonly isEmptyObject: boolean
  readonly maxDepth: number
  readonly maxLines: number
  readonly onProtoPoisoning: Poisoning
  readonly onConstructorPoisoning: Poisoning
  readonly functions: FunctionNames | null
}

/** Names of the user's functions. Functions cannot cross threads. */
export interface FunctionNames {
  /** A `file:` URL. */
  readonly module: string
  readonly reviver: string | null
  readonly validate: string | null
  readonly select: string | null
}

export type ParseOutcome =
  | { readonly kind: 'value'; readonly value: unknown }
  /** `line` counts from 1. It is 0 when the format is not `lines`. */
  | {
      readonly kind: 'malformed'
      readonly message: string
      readonly line: number
      readonly bytes: Uint8Array
    }
  | { readonly kind: 'tooDeep' }
  | { readonly kind: 'tooManyLines' }
  | { readonly kind: 'invalid'; readonly issues: unknown }

/** `notCarried`: the value nests too deep to cross threads. */
export type WorkerOutcome = ParseOutcome | { readonly kind: 'notCarried'; readonly bytes: Uint8Array }
