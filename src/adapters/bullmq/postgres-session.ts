// One connection to PostgreSQL. It sends one request at a time, and notices when the server falls silent.
import { EventEmitter } from 'node:events'
import { realClock, within } from '../../kit.js'

export interface Result {
  readonly rows: any[]
  readonly rowCount: number | null
}

export interface Request {
  readonly text: string
  readonly params: readonly unknown[] | undefined
  resolve(result: Result): void
  reject(error: unknown): void
}

export interface SessionHooks {
  /** How many ticks without a byte of the server a request may wait. */
  readonly silentTicks: number
  readonly onHeard: (what: string) => void
  readonly onFree: () => void
  /** Called once for a session that was open. */
  readonly onLost: (error: Error) => void
}

/** After so many ticks without a byte, an idle session asks the server. A router forgets a silent connection, and tells nobody. */
const IDLE_TICKS = 5
const END_LIMIT_MS = 1000

/** `pg.Client` */
interface Client extends EventEmitter {
  connect(): Promise<unknown>
  query(text: string, params?: readonly unknown[]): Promise<Result>
  end(): Promise<void>
  readonly connection: { readonly stream: NodeJS.EventEmitter & { destroy(): void } }
}

/** Emits `notification`. BullMQ takes it for a `pg.Client`. */
export class PostgresSession extends EventEmitter {
  isListening = false
  readonly #client: Client
  readonly #hooks: SessionHooks
  /** They need this session: LISTEN and the name. */
  readonly #own: Request[] = []
  #current: Request | null = null
  #isOpen = false
  #onIdle: (() => void) | null = null
  #quietTicks = 0

  constructor(client: Client, hooks: SessionHooks) {
    super()
    this.setMaxListeners(0)
    this.#client = client
    this.#hooks = hooks
    client.on('error', error => this.#lose(error))
    client.on('end', () => this.#lose(new Error('Connection terminated unexpectedly')))
    client.on('notification', message => this.emit('notification', message))
  }

  get isFree(): boolean {
    return this.#isOpen && this.#current === null && this.#own.length === 0
  }

  async connect(): Promise<void> {
    await this.#client.connect()
    this.#isOpen = true
    this.#client.connection.stream.on('data', () => this.#onHeard())
    this.#onHeard()
  }

  /** For requests that need this session. */
  query(text: string, params?: readonly unknown[]): Promise<Result> {
    return new Promise((resolve, reject) => {
      if (!this.#isOpen) return reject(new Error('Connection terminated'))
      this.#own.push({ text, params, resolve, reject })
      if (this.#current === null) this.run(this.#own.shift()!)
    })
  }

  run(request: Request): void {
    this.#current = request
    this.#quietTicks = 0
    this.#client.query(request.text, request.params).then(
      result => this.#settle(request, () => request.resolve(result)),
      error => {
        // The server ends the connection after such an error. The next request must not take it.
        if (/^(FATAL|PANIC)$/.test(error?.severity)) this.#lose(error)
        this.#settle(request, () => request.reject(error))
      },
    )
  }

  /** Called about once a second. Ticks are counted, not time: a blocked event loop hears nothing, and the server is not to blame. */
  tick(): void {
    this.#quietTicks++
    if (this.#current === null) {
      if (this.#quietTicks >= IDLE_TICKS) this.query('SELECT 1').catch(() => {})
    } else if (this.#quietTicks > this.#hooks.silentTicks) {
      const error = new Error(`The server did not answer within ${this.#hooks.silentTicks} s.`)
      this.#lose(Object.assign(error, { code: 'ERR_LIDO_SILENT' }))
    }
  }

  /** Waits a moment for the current request. */
  async end(): Promise<void> {
    if (!this.#isOpen) return
    this.#isOpen = false
    for (const request of this.#own.splice(0)) request.reject(new Error('Connection terminated'))
    const idle = new Promise<void>(resolve => {
      if (this.#current === null) resolve()
      else this.#onIdle = resolve
    })
    await within(realClock, END_LIMIT_MS, idle, () => {})
    await within(
      realClock,
      END_LIMIT_MS,
      this.#client.end().catch(() => {}),
      () => {},
    )
    this.#client.connection.stream.destroy()
  }

  #onHeard(): void {
    this.#quietTicks = 0
    this.#hooks.onHeard(this.#current === null ? 'a notification' : 'an answer')
  }

  #settle(request: Request, tell: () => void): void {
    if (this.#current !== request) return
    this.#current = null
    tell()
    this.#onIdle?.()
    if (!this.#isOpen) return
    const next = this.#own.shift()
    if (next === undefined) this.#hooks.onFree()
    else this.run(next)
  }

  #lose(error: Error): void {
    if (!this.#isOpen) return
    this.#isOpen = false
    this.#client.connection.stream.destroy()
    const current = this.#current
    this.#current = null
    for (const request of [...(current === null ? [] : [current]), ...this.#own.splice(0)])
      request.reject(error)
    this.#hooks.onLost(error)
  }
}
