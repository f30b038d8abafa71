// The connections of one host or caller to PostgreSQL. BullMQ would open two for each of its parts. Here all parts share a few: each one
// serves queries, and the first one also receives the notifications.
import { EventEmitter } from 'node:events'
import { realClock, type Timer } from '../../kit.js'
import {
  assertSchemaCompatibility,
  DEFAULT_SCHEMA,
  loadPg,
  PostgresQueueBackend,
  quoteSchemaName,
  runMigrations,
} from './package.js'
import { PostgresSession, type Request, type Result } from './postgres-session.js'

/** Options of `pg.Client` and of BullMQ's connection. */
export interface PostgresOptions {
  readonly connectionString?: string
  readonly options?: string
  readonly query_timeout?: number | false
  readonly schema?: string
  readonly skipVersionCheck?: boolean
  readonly skipMigrations?: boolean
  readonly migrate?: boolean
}

const CONNECT_LIMIT_MS = 10_000
const ANSWER_LIMIT_MS = 10_000
const KEEP_ALIVE_MS = 10_000
/** Migrations of a large table take long, and wait for those of other programs. */
const MIGRATION_LIMIT_MS = 300_000
const TICK_MS = 1000
const FIRST_PAUSE_MS = 100
const LONGEST_PAUSE_MS = 2000

export class PostgresConnections {
  readonly schema: string
  readonly #options: PostgresOptions
  readonly #most: number
  readonly #onHeard: (what: string) => void
  readonly #parts = new Set<PartConnection>()
  readonly #sessions = new Set<PostgresSession>()
  /** They wait for a session. */
  readonly #requests: Request[] = []
  #opening: Promise<PostgresSession> | null = null
  #ready: Promise<void> | null = null
  #listener: Promise<PostgresSession> | null = null
  /** The `application_name` of the session that listens. BullMQ finds workers by it. */
  #name: string | null = null
  #pauseMs = 0
  #timer: Timer | null = null

  /** @param most how many connections may be open */
  constructor(options: PostgresOptions, most: number, onHeard: (what: string) => void) {
    this.schema = options.schema ?? DEFAULT_SCHEMA
    this.#options = options
    this.#most = most
    this.#onHeard = onHeard
  }

  /** Makes the back end of one part of BullMQ, as `createPostgresBackend` does. */
  readonly factory = (
    queueName: string,
    opts: { name?: string },
    { blocking, withBlockingConnection }: { blocking?: boolean; withBlockingConnection?: boolean } = {},
  ): object => {
    const workerName = `${queueName}${opts.name ? `:w:${opts.name}` : ''}`
    const name = withBlockingConnection ? workerName : blocking ? `${queueName}:qe` : undefined
    const part = new PartConnection(this)
    this.#parts.add(part)
    return new PostgresQueueBackend(part as never, queueName, opts as never, true, name)
  }

  query(text: string, params?: readonly unknown[]): Promise<Result> {
    return new Promise((resolve, reject) => {
      this.#requests.push({ text, params, resolve, reject })
      this.#serve()
    })
  }

  /** Rejects when the first attempt fails. The next call tries again. */
  ready(): Promise<void> {
    this.#ready ??= this.#prepare().catch(error => {
      this.#ready = null
      throw error
    })
    return this.#ready
  }

  /** The session that receives notifications. BullMQ sends its LISTEN commands to it. */
  listener(): Promise<PostgresSession> {
    this.#listener ??= this.#chooseListener().catch(error => {
      this.#listener = null
      throw error
    })
    return this.#listener
  }

  async setName(name: string): Promise<void> {
    // A host also listens to a queue of cancellations. Its worker is what BullMQ looks for.
    if (this.#name !== null && name.endsWith(':qe')) return
    this.#name = name
    await this.#applyName(await this.listener())
  }

  /** The sessions end with the last part. */
  async leave(part: PartConnection): Promise<void> {
    this.#parts.delete(part)
    if (this.#parts.size === 0) await this.close()
  }

  async close(): Promise<void> {
    this.#timer?.cancel()
    this.#timer = null
    this.#ready = null
    this.#listener = null
    this.#name = null
    this.#rejectRequests(new Error('Connection terminated: the connections were closed.'))
    const sessions = [...this.#sessions]
    this.#sessions.clear()
    await Promise.all(sessions.map(session => session.end()))
  }

  async #prepare(): Promise<void> {
    const { migrate, skipMigrations, skipVersionCheck } = this.#options
    // BullMQ 6.0 has no check, and migrates.
    const mustMigrate = migrate ?? (assertSchemaCompatibility === undefined && skipMigrations !== true)
    if (mustMigrate) return await this.#migrate()
    const client = { query: (text: string, params?: unknown[]) => this.query(text, params) }
    await assertSchemaCompatibility?.(client as never, this.schema, {
      skipVersionCheck: skipVersionCheck ?? false,
    })
  }

  /** In a connection of its own, because it is one transaction. */
  async #migrate(): Promise<void> {
    const client = this.#newClient({ query_timeout: MIGRATION_LIMIT_MS })
    client.on('error', () => {})
    await client.connect()
    try {
      await runMigrations(client, this.schema, { skipVersionCheck: this.#options.skipVersionCheck ?? false })
    } finally {
      client.end().catch(() => {})
    }
  }

  #newClient(more: object): any {
    const { schema, skipVersionCheck, skipMigrations, migrate, query_timeout, options, ...rest } =
      this.#options
    const searchPath = `-c search_path=${quoteSchemaName(this.schema)}`
    const { Client } = loadPg()
    return new Client({
      connectionTimeoutMillis: CONNECT_LIMIT_MS,
      keepAlive: true,
      keepAliveInitialDelayMillis: KEEP_ALIVE_MS,
      ...rest,
      ...more,
      options: options ? `${options} ${searchPath}` : searchPath,
    })
  }

  #serve(): void {
    for (const session of this.#sessions) {
      if (this.#requests.length === 0) return
      if (session.isFree) session.run(this.#requests.shift()!)
    }
    if (this.#requests.length > 0 && this.#sessions.size < this.#most) this.#open().catch(() => {})
  }

  #open(): Promise<PostgresSession> {
    this.#opening ??= this.#openOne().finally(() => {
      this.#opening = null
    })
    return this.#opening
  }

  async #openOne(): Promise<PostgresSession> {
    if (this.#pauseMs > 0) await new Promise<void>(resolve => realClock.after(this.#pauseMs, resolve, true))
    let session: PostgresSession
    try {
      const { query_timeout } = this.#options
      session = new PostgresSession(this.#newClient({}), {
        silentTicks: Math.ceil(((query_timeout ?? ANSWER_LIMIT_MS) || Number.POSITIVE_INFINITY) / TICK_MS),
        onHeard: this.#onHeard,
        onFree: () => this.#serve(),
        onLost: (error: Error) => this.#onLost(session, error),
      })
      await session.connect()
    } catch (error) {
      this.#pauseMs = Math.min(Math.max(this.#pauseMs * 2, FIRST_PAUSE_MS), LONGEST_PAUSE_MS)
      // An open session serves the requests.
      if (this.#sessions.size === 0) this.#rejectRequests(error)
      throw error
    }
    this.#pauseMs = 0
    if (this.#parts.size === 0) {
      await session.end()
      throw new Error('Connection terminated: the connections were closed.')
    }
    this.#sessions.add(session)
    this.#timer ??= realClock.after(TICK_MS, () => this.#tick(), false)
    queueMicrotask(() => this.#serve())
    return session
  }

  #onLost(session: PostgresSession, error: Error): void {
    if (!this.#sessions.delete(session)) return
    if (session.isListening) this.#listener = null
    for (const part of [...this.#parts]) {
      // BullMQ then asks for the new session, and listens again.
      if (session.isListening) part.emit('listenerinvalidated')
      part.emitError(error)
    }
    this.#serve()
  }

  async #chooseListener(): Promise<PostgresSession> {
    const [first] = this.#sessions
    const session = first ?? (await this.#open())
    session.isListening = true
    await this.#applyName(session)
    return session
  }

  /** BullMQ works without it. */
  async #applyName(session: PostgresSession): Promise<void> {
    if (this.#name === null) return
    await session.query("SELECT set_config('application_name', $1, false)", [this.#name]).catch(() => {})
  }

  #rejectRequests(error: unknown): void {
    for (const request of this.#requests.splice(0)) request.reject(error)
  }

  #tick(): void {
    this.#timer = this.#parts.size === 0 ? null : realClock.after(TICK_MS, () => this.#tick(), false)
    for (const session of [...this.#sessions]) session.tick()
  }
}

/** What the back end of one part takes for its connection: the members of BullMQ's `PostgresConnection` that it uses. */
class PartConnection extends EventEmitter {
  readonly schema: string
  readonly pool: { query: PostgresConnections['query'] }
  /** With `false`, BullMQ looks for jobs at least every 10 s. So it finds the jobs that another host has just delayed. */
  readonly hasListenClientKeepAlive = false
  isClosing = false
  readonly #connections: PostgresConnections
  #closed: Promise<void> | null = null

  constructor(connections: PostgresConnections) {
    super()
    this.schema = connections.schema
    this.pool = { query: (text, params) => connections.query(text, params) }
    this.#connections = connections
  }

  async waitUntilReady(): Promise<void> {
    await this.#connections.ready()
  }

  async getListenClient(): Promise<PostgresSession> {
    return await this.#connections.listener()
  }

  async setListenClientName(name: string): Promise<void> {
    await this.#connections.setName(name)
  }

  emitError(error: Error): void {
    if (this.listenerCount('error') > 0) this.emit('error', error)
  }

  close(): Promise<void> {
    this.isClosing = true
    this.#closed ??= this.#connections.leave(this).then(() => void this.emit('close'))
    return this.#closed
  }

  disconnect(): Promise<void> {
    return this.close()
  }
}

type Asked = Pick<PostgresConnections, 'query'>

/** The back end of a part, if it is BullMQ's for PostgreSQL. */
export function postgresOf(part: object): Asked | null {
  const { backend } = part as { backend?: unknown }
  const isPostgres = PostgresQueueBackend !== undefined && backend instanceof PostgresQueueBackend
  return isPostgres ? (backend as unknown as Asked) : null
}

export async function postgresTime(asked: Asked): Promise<number> {
  const { rows } = await asked.query('SELECT extract(epoch FROM clock_timestamp())::float8 * 1000 AS now', [])
  return Number(rows[0].now)
}

/** Without the payloads. BullMQ calls a waiting job with a priority `prioritized`. */
export async function postgresStates(
  asked: Asked,
  queueName: string,
  jobIds: readonly string[],
): Promise<(readonly [id: string, state: string])[]> {
  const text = 'SELECT id, state, priority FROM job WHERE queue = $1 AND id = ANY($2::text[])'
  const { rows } = await asked.query(text, [queueName, jobIds])
  return rows.map(({ id, state, priority }) => [
    id,
    state === 'waiting' && priority > 0 ? 'prioritized' : state,
  ])
}
