// What the errors of the queue's server mean. `docs`: https://www.postgresql.org/docs/current/errcodes-appendix.html, and the first word
// of an error of Redis.

export interface ServerTrouble {
  /**
   * `interruption`: the server, or another one in its place, will accept the same request later, without anybody's help.
   * `refusal`: an operator has to help the server.
   */
  readonly kind: 'interruption' | 'refusal'
  /** A plain sentence without its full stop, such as `the server is out of memory`. */
  readonly state: string
}

interface TroubleRule extends ServerTrouble {
  readonly codes?: RegExp
  readonly messages?: RegExp
}

/** The first rule that fits counts. Older versions of Redis put the word of an error into the middle of the message. */
const rules: readonly TroubleRule[] = [
  { kind: 'refusal', state: 'the server is out of memory', codes: /^53200$/, messages: /\bOOM command\b/ },
  { kind: 'refusal', state: 'the disk of the server is full', codes: /^53100$/ },
  { kind: 'refusal', state: 'the server cannot write its disk', codes: /^58030$/, messages: /\bMISCONF\b/ },
  {
    kind: 'interruption',
    state: 'the server is read-only',
    codes: /^25006$/,
    messages: /\bREADONLY\b|\bUNBLOCKED\b/,
  },
  {
    kind: 'interruption',
    state: 'the server has no more connections',
    codes: /^53300$/,
    messages: /max number of clients reached/,
  },
  {
    kind: 'interruption',
    state: 'the server starts or stops',
    codes: /^57P0[1-5]$/,
    messages: /\bLOADING\b/,
  },
  {
    kind: 'interruption',
    state: 'the server waits for other servers',
    messages: /\b(MASTERDOWN|CLUSTERDOWN|TRYAGAIN|NOREPLICAS)\b/,
  },
  {
    kind: 'interruption',
    state: 'the server is busy',
    codes: /^(40001|40P01|55P03|57014)$/,
    messages: /^BUSY\b/,
  },
  {
    kind: 'interruption',
    state: 'the server does not answer',
    codes: /^(ETIMEDOUT|ERR_LIDO_SILENT)$/,
    messages:
      /ETIMEDOUT|Socket timeout|Command timed out|query read timeout|timeout expired|connection timeout|timeout exceeded when trying/i,
  },
  {
    kind: 'interruption',
    state: 'the server cannot be reached',
    codes: /^(ECONN\w+|EPIPE|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|EHOSTDOWN|ENETUNREACH|ENETDOWN|08\w{3})$/,
    messages:
      /ECONN|connection (is closed|terminated|ended)|not queryable|max retries per request|offlineQueue|isn't writeable|aborted due to connection close|socket closed/i,
  },
]

/** `null`: the error says nothing about the state of the server, such as a wrong password or a missing table. */
export function troubleOf(error: unknown): ServerTrouble | null {
  const { code, message } = Object(error) as { code?: unknown; message?: unknown }
  const rule = rules.find(
    ({ codes, messages }) => codes?.test(String(code)) || messages?.test(String(message)),
  )
  return rule ?? null
}

/** True for an error after which the same request may succeed. */
export function isInterruption(error: unknown): boolean {
  return troubleOf(error)?.kind === 'interruption'
}
