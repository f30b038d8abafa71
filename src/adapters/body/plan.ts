// What is to be done with the bytes of a body, and what came of it: plain data, because both cross to a worker and back.

/** What happens to keys that would become a prototype where an object is copied carelessly. */
export type Poisoning = 'error' | 'remove' | 'ignore'

export interface Plan {
  readonly format: 'json' | 'lines'
  readonly charset: string
  /** The file of the package that knows charsets other than UTF-8; `null` where only UTF-8 is spoken. */
  readonly charsets: string | null
  /** Only an object or an array is a body. */
  readonly isStrict: boolean
  /** A body without text is `{}`: clients send it by mistake, and body-parser lets them. Fastify's parser does not. */
  readonly isEmptyObject: boolean
  readonly maxDepth: number
  readonly maxLines: number
  readonly onProtoPoisoning: Poisoning
  readonly onConstructorPoisoning: Poisoning
  readonly functions: FunctionNames | null
}

/** Functions of the user's, by names, because they cannot cross. */
export interface FunctionNames {
  /** A `file:` URL. */
  readonly module: string
  readonly reviver: string | null
  readonly validate: string | null
  readonly select: string | null
}

export type Outcome =
  | { readonly kind: 'value'; readonly value: unknown }
  /** `line` counts from 1; 0 where the body is not made of lines. */
  | {
      readonly kind: 'malformed'
      readonly message: string
      readonly line: number
      readonly bytes: Uint8Array
    }
  | { readonly kind: 'tooDeep' }
  | { readonly kind: 'tooManyLines' }
  | { readonly kind: 'invalid'; readonly issues: unknown }

/** What a worker answers: also that the value nests deeper than one that crosses threads may. */
export type WorkerOutcome = Outcome | { readonly kind: 'notCarried'; readonly bytes: Uint8Array }
