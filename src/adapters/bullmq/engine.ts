// The options that say which server has the queue, for BullMQ's classes. BullMQ itself talks to the server.
import type { Queue, QueueBase } from 'bullmq'
import type { OptionErrors } from '../../kit.js'
import { boolean, realClock, unchecked, value } from '../../kit.js'
import { checkBackends, checkBullmq, createPostgresBackend, isPgPool, keepListeners } from './package.js'

/** Redis and Valkey speak the same protocol. */
export type EngineName = 'postgres' | 'redis' | 'valkey'

/** A back-end factory of BullMQ 6, such as `createPostgresBackend`. Named by its shape, because BullMQ 5 has no type for it. */
export type EngineFactory = (...args: any[]) => any

/** Where the queue is. The options of `RemotePool` and `serve()` have these. */
export interface EngineOptions {
  /** The kind of server, or a back-end factory of BullMQ's. */
  engine: EngineName | EngineFactory
  /**
   * How to reach the server: what BullMQ's own `connection` takes. For PostgreSQL: a connection string, options of `pg.Pool`, or a
   * `pg.Pool`. For Redis and Valkey: options of `ioredis`, or a client.
   */
  connection: unknown
  /**
   * PostgreSQL only. Creates BullMQ's tables, or brings them up to date, when the connection opens. Several programs may do
   * so at once. Default `false`.
   */
  migrate?: boolean | undefined
  /** Redis and Valkey only. The prefix of all keys. Default `'bull'`. */
  prefix?: string | undefined
}

/** The server of one host or caller: what BullMQ's classes take after the name of the queue, and what lido asks the server itself. */
export interface Engine {
  readonly base: { readonly connection: any; readonly prefix?: string }
  readonly factory: EngineFactory | undefined
  readonly isPostgres: boolean
  /** When the server last answered on any connection, by the clock of this machine. `null`: never. */
  readonly lastHeardAt: number | null
  /** The clock of the server, in milliseconds since 1970. The clock of this machine, until the server was asked. */
  now(): number
  /** The states of jobs, by one request. A job that the queue does not have is left out. */
  statesOf(queue: Queue, jobIds: readonly string[]): Promise<Map<string, string>>
  /** Closes the connections that lido made. Call it after the parts of BullMQ are closed. */
  close(): Promise<void>
}

/** Rejects with the first error of the connection. BullMQ itself would try again without an end, or never again. */
export async function whenReady(part: QueueBase): Promise<void> {
  keepListeners(part)
  await new Promise<void>((resolve, reject) => {
    // Later errors need a listener too.
    part.on('error', reject)
    part.waitUntilReady().then(() => resolve(), reject)
  })
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
  prefix: value<string | undefined>(
    given => typeof given === 'string' && given !== '',
    'a string that is not empty',
    {
      default: undefined,
    },
  ),
}

/** Throws `InvalidOptionError`. */
export function engineOf(
  { engine, connection, migrate, prefix }: { [Name in keyof EngineOptions]: EngineOptions[Name] | undefined },
  errors: OptionErrors,
): Engine {
  checkBullmq()
  if (engine === undefined) errors.wrong('engine', engine, "'postgres', 'redis' or 'valkey'")
  if (connection === undefined || connection === null) {
    const example =
      engine === 'postgres'
        ? "'postgres://user:password@host:5432/database'"
        : "{ host: 'localhost', port: 6379 }"
    errors.wrong('connection', connection, `what BullMQ takes as its connection, such as ${example}`)
  }
  if (engine === 'postgres' || typeof engine === 'function') checkBackends()
  if (migrate) {
    if (engine === 'redis' || engine === 'valkey') {
      errors.contradiction(
        'migrate',
        `The option 'migrate' is for PostgreSQL, and 'engine' is '${engine}'. Leave it out.`,
      )
    }
    if (isPgPool(connection)) {
      errors.contradiction(
        'migrate',
        "The option 'migrate' does not work with a pg.Pool as 'connection'. Call BullMQ's runMigrations(pool) once, and leave 'migrate' out.",
      )
    }
    connection = {
      ...(typeof connection === 'string' ? { connectionString: connection } : (connection as object)),
      migrate,
    }
  }
  const factory =
    typeof engine === 'function' ? engine : engine === 'postgres' ? createPostgresBackend : undefined
  return {
    base: { connection, ...(prefix !== undefined && { prefix }) },
    factory: factory as EngineFactory | undefined,
    isPostgres: engine === 'postgres',
    lastHeardAt: null,
    now: () => realClock.epochNow(),
    statesOf: async (queue, jobIds) => {
      const states = await Promise.all(
        jobIds.map(async id => [id, (await queue.getJobState(id)) as string] as const),
      )
      return new Map(states.filter(([, state]) => state !== 'unknown'))
    },
    close: async () => {},
  }
}
