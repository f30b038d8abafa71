// The options that say which server has the queue, for BullMQ's classes. BullMQ itself talks to the server.
import type { Queue, QueueBase } from 'bullmq'
import type { OptionErrors } from '../../kit.js'
import { boolean, integer, realClock, unchecked, value } from '../../kit.js'
import { checkBackends, checkBullmq, createPostgresBackend, isPgPool, keepListeners } from './package.js'
import {
  PostgresConnections,
  type PostgresOptions,
  postgresOf,
  postgresStates,
  postgresTime,
} from './postgres.js'
import { isRedisClient, RedisWatch, redisClientsOf, redisOptions, redisStates, redisTime } from './redis.js'
import { troubleOf } from './server-errors.js'

/** Redis and Valkey speak the same protocol. */
export type EngineName = 'postgres' | 'redis' | 'valkey'

/** A back-end factory of BullMQ 6, such as `createPostgresBackend`. Named by its shape, because BullMQ 5 has no type for it. */
export type EngineFactory = (...args: any[]) => any

/** Where the queue is. The options of `RemotePool` and `serve()` have these. */
export interface EngineOptions {
  /**
   * The kind of server, or a back-end factory of BullMQ's.
   * @see [lido/bullmq](https://OWNER.github.io/lido/reference/bullmq.html)
   */
  engine: EngineName | EngineFactory
  /**
   * How to reach the server. For PostgreSQL: a connection string, options of `pg.Client`, or a `pg.Pool`. For Redis and Valkey: a
   * connection string, options of `ioredis`, or a client.
   * @see [lido/bullmq](https://OWNER.github.io/lido/reference/bullmq.html)
   */
  connection: unknown
  /**
   * PostgreSQL only. Creates BullMQ's tables, or brings them up to date, when the connection opens. Several programs may do
   * so at once. Default `false`.
   * @see [lido/bullmq](https://OWNER.github.io/lido/reference/bullmq.html)
   */
  migrate?: boolean | undefined
  /**
   * PostgreSQL only. How many connections may be open at once. Default 2 for a host, and 1 for a `RemotePool`. Migrations use one more for a
   * moment. With a `pg.Pool`, its own `max` counts.
   * @see [lido/bullmq](https://OWNER.github.io/lido/reference/bullmq.html)
   */
  connections?: number | undefined
  /**
   * Redis and Valkey only. The prefix of all keys. Default `'bull'`.
   * @see [lido/bullmq](https://OWNER.github.io/lido/reference/bullmq.html)
   */
  prefix?: string | undefined
}

/** What the server said last, and when, by the clock of this machine. */
export interface LastHeard {
  /** Such as `'an answer'`. */
  what: string
  at: number
}

/** The server of one host or caller: what BullMQ's classes take after the name of the queue, and what lido asks the server itself. */
export interface Engine {
  readonly base: { readonly connection: any; readonly prefix?: string }
  readonly factory: EngineFactory | undefined
  readonly isPostgres: boolean
  /** `null`: the server never answered. */
  readonly lastHeard: LastHeard | null
  /** When the server last answered on any connection, by the clock of this machine. `null`: never. */
  readonly lastHeardAt: number | null
  /** The clock of the server, in milliseconds since 1970. The clock of this machine, until the server was asked. */
  now(): number
  /** The states of jobs, by one request. A job that the queue does not have is left out. */
  statesOf(queue: Queue, jobIds: readonly string[]): Promise<Map<string, string>>
  /** Asks the server for its time by this part, and listens to what the part hears. */
  join(part: QueueBase): Promise<void>
  /** Closes the connections that lido and BullMQ made, also where the server does not answer. Close the parts of BullMQ before. */
  close(): Promise<void>
}

/**
 * Rejects with the first error of the connection. BullMQ itself would try again without an end, or never again.
 * @param engine learns from the part what the server says
 */
export async function whenReady(part: QueueBase, engine?: Engine): Promise<void> {
  keepListeners(part)
  await new Promise<void>((resolve, reject) => {
    // Later errors need a listener too.
    part.on('error', reject)
    part.waitUntilReady().then(() => resolve(), reject)
  })
  await engine?.join(part)
}

const names: readonly unknown[] = ['postgres', 'redis', 'valkey']

export const engineRules = {
  engine: value<EngineOptions['engine'] | undefined>(
    given => names.includes(given) || typeof given === 'function',
    "'postgres', 'redis', 'valkey' or a back-end factory of BullMQ's",
    {
      default: undefined,
    },
  ),
  connection: unchecked<unknown>({
    default: undefined,
  }),
  migrate: boolean({ default: false }),
  connections: integer({ min: 1 }, { default: undefined }),
  prefix: value<string | undefined>(
    given => typeof given === 'string' && given !== '',
    'a string that is not empty',
    {
      default: undefined,
    },
  ),
}

type Given = { [Name in keyof EngineOptions]: EngineOptions[Name] | undefined }

/** What the defaults of a host and of a caller differ in. */
export interface EngineDefaults {
  readonly connections: number
  /** BullMQ's option of a worker. */
  readonly drainDelay?: number | undefined
  /** The client repeats commands that a read-only server refuses. Otherwise the commands reject. Default `true`. */
  readonly repeatsCommands?: boolean
}

/** Throws `InvalidOptionError`. */
export function engineOf(
  options: Given,
  errors: OptionErrors,
  { connections, drainDelay = 0, repeatsCommands = true }: EngineDefaults = { connections: 1 },
): Engine {
  checkBullmq()
  check(options, errors)
  const { engine, prefix, migrate } = options
  if (engine === 'postgres' || typeof engine === 'function') checkBackends()
  const connection = options.connection as string | object
  const baseOf = (connection: unknown) => ({ connection, ...(prefix !== undefined && { prefix }) })
  if (engine !== 'postgres' && typeof engine !== 'function') {
    const forRedis = isRedisClient(connection)
      ? connection
      : redisOptions(connection, drainDelay, repeatsCommands)
    return new ConnectedEngine(baseOf(forRedis), undefined, false, null)
  }
  if (isPgPool(connection)) {
    const factory = engine === 'postgres' ? createPostgresBackend : engine
    return new ConnectedEngine(baseOf(connection), factory, engine === 'postgres', null)
  }
  const given: PostgresOptions & { max?: number } = {
    ...(typeof connection === 'string' ? { connectionString: connection } : connection),
    ...(migrate && { migrate }),
  }
  if (engine !== 'postgres') {
    return new ConnectedEngine(baseOf(migrate ? given : connection), engine, false, null)
  }
  const most = options.connections ?? given.max ?? connections
  return ConnectedEngine.withOwn(baseOf(connection), given, most)
}

function check({ engine, connection, migrate, connections }: Given, errors: OptionErrors): void {
  if (engine === undefined) errors.wrong('engine', engine, "'postgres', 'redis' or 'valkey'")
  const isRedis = engine === 'redis' || engine === 'valkey'
  const example = isRedis
    ? "'redis://user:password@host:6379/0' or { host: 'localhost', port: 6379 }"
    : "'postgres://user:password@host:5432/database'"
  if (connection === undefined || connection === null) {
    errors.wrong('connection', connection, `what BullMQ takes as its connection, such as ${example}`)
  }
  if (typeof engine !== 'function') checkConnection(engine, connection, example, errors)
  const isPool = isPgPool?.(connection) ?? false
  if (migrate && isPool) {
    errors.contradiction(
      'migrate',
      "The option 'migrate' does not work with a pg.Pool as 'connection'. Call BullMQ's runMigrations(pool) once, and leave 'migrate' out.",
    )
  }
  if (connections !== undefined && (isPool || typeof engine === 'function')) {
    errors.contradiction(
      'connections',
      "The option 'connections' counts the connections that lido opens. A pg.Pool or a back-end factory opens its own. Leave 'connections' out, and set 'max' of the pool.",
    )
  }
  const forPostgres = { migrate: migrate || undefined, connections }
  for (const [option, given] of Object.entries(forPostgres)) {
    if (!isRedis || given === undefined) continue
    errors.contradiction(
      option,
      `The option '${option}' is for PostgreSQL, and 'engine' is '${engine}'. Leave it out.`,
    )
  }
}

const protocols = { postgres: /^(postgres|postgresql)$/, redis: /^(redis|rediss|valkey|valkeys)$/ }

function checkConnection(
  engine: EngineName,
  connection: unknown,
  example: string,
  errors: OptionErrors,
): void {
  const isPostgres = engine === 'postgres'
  const text = isPostgres ? connection : ((connection as { url?: unknown }).url ?? connection)
  if (typeof text === 'string') {
    if (isPostgres ? mayBePostgres(text) : mayBeRedis(text)) return
    // The string may have a password, so no message shows it.
    errors.contradiction(
      'connection',
      `The option 'connection' is no connection string for the engine '${engine}'. Use one such as ${example}. Encode special characters of a password with encodeURIComponent().`,
    )
  }
  const isObject = typeof connection === 'object' || typeof connection === 'function'
  if (!isObject || Array.isArray(connection)) {
    errors.wrong('connection', connection, `a connection string or an object, such as ${example}`)
  }
}

/** node-postgres also takes a socket, and other forms without a protocol. */
function mayBePostgres(text: string): boolean {
  const protocol = protocolOf(text)
  return text !== '' && (protocol === undefined || protocols.postgres.test(protocol))
}

/** `ioredis` takes a text that is no URL for the path of a socket, and would show it in its errors. */
function mayBeRedis(text: string): boolean {
  return text.startsWith('/') || (protocols.redis.test(protocolOf(text) ?? '') && URL.canParse(text))
}

function protocolOf(text: string): string | undefined {
  return /^([^:/]*):\/\//.exec(text)?.[1]?.toLowerCase()
}

/** The clock of the server is measured again after this time. */
const MEASURED_EVERY_MS = 60_000

class ConnectedEngine implements Engine {
  readonly base: Engine['base']
  readonly factory: EngineFactory | undefined
  readonly isPostgres: boolean
  lastHeard: LastHeard | null = null
  readonly #own: PostgresConnections | null
  readonly #hasForeignClient: boolean
  readonly #watch = new RedisWatch(() => this.#onHeard('an answer'))
  /** The time of the server minus that of this machine. */
  #offsetMs = 0
  #measuredAt = Number.NEGATIVE_INFINITY
  #askTime: () => Promise<number> | null = () => null

  constructor(base: Engine['base'], factory: unknown, isPostgres: boolean, own: PostgresConnections | null) {
    this.base = base
    this.factory = factory as EngineFactory | undefined
    this.isPostgres = isPostgres
    this.#own = own
    this.#hasForeignClient = isRedisClient(base.connection)
  }

  /** With connections that lido makes. */
  static withOwn(base: Engine['base'], options: PostgresOptions, most: number): ConnectedEngine {
    const own = new PostgresConnections(options, most, what => engine.#onHeard(what))
    const engine: ConnectedEngine = new ConnectedEngine(base, own.factory, true, own)
    return engine
  }

  get lastHeardAt(): number | null {
    return this.lastHeard?.at ?? null
  }

  now(): number {
    if (realClock.now() - this.#measuredAt > MEASURED_EVERY_MS) void this.#measure()
    return realClock.epochNow() + this.#offsetMs
  }

  async statesOf(queue: Queue, jobIds: readonly string[]): Promise<Map<string, string>> {
    if (jobIds.length === 0) return new Map()
    const states = await this.#statesOf(queue, jobIds)
    this.#onHeard('an answer')
    return new Map(states)
  }

  async join(part: QueueBase): Promise<void> {
    const postgres = postgresOf(part)
    if (postgres !== null) {
      this.#askTime = () => postgresTime(postgres)
    } else {
      const clients = await redisClientsOf(part)
      const [client] = clients
      // The back end is of another kind.
      if (client === undefined) return
      for (const client of clients) this.#watch.add(client)
      this.#askTime = () => redisTime(client)
    }
    this.#onHeard('an answer')
    if (this.#measuredAt === Number.NEGATIVE_INFINITY) await this.#measure()
  }

  async close(): Promise<void> {
    if (!this.#hasForeignClient) this.#watch.disconnect()
    await this.#own?.close()
  }

  #onHeard(what: string): void {
    this.lastHeard = { what, at: realClock.epochNow() }
  }

  /** Never rejects. Without an answer, the last measurement counts. */
  async #measure(): Promise<void> {
    const asked = this.#askTime()
    if (asked === null) return
    this.#measuredAt = realClock.now()
    const startedAt = realClock.epochNow()
    try {
      const time = await asked
      const tripMs = realClock.epochNow() - startedAt
      const offsetMs = time - (startedAt + tripMs / 2)
      // A smaller difference may be the network's.
      this.#offsetMs = Math.abs(offsetMs) <= tripMs / 2 + 1 ? 0 : Math.round(offsetMs)
      this.#onHeard('an answer')
    } catch {
      // The connection is interrupted.
    }
  }

  async #statesOf(queue: Queue, jobIds: readonly string[]): Promise<(readonly [string, string])[]> {
    const postgres = postgresOf(queue)
    try {
      if (postgres !== null) return await postgresStates(postgres, queue.name, jobIds)
      const [client] = await redisClientsOf(queue)
      if (client !== undefined) return await redisStates(client, type => queue.toKey(type), jobIds)
    } catch (error) {
      if (troubleOf(error) !== null) throw error
      // The tables or the client are not as expected. BullMQ's own way is slower.
    }
    const states = await Promise.all(jobIds.map(async id => [id, await queue.getJobState(id)] as const))
    return states.filter(([, state]) => state !== 'unknown')
  }
}
