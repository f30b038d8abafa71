// BullMQ as the user installed it: version 5 or 6. Both speak to Redis and Valkey; only version 6 speaks to PostgreSQL.
import type { EventEmitter } from 'node:events'
import { createRequire } from 'node:module'
import * as bullmq from 'bullmq'
import { PoolError } from '../../index.js'
import { packagesFrom } from '../../kit.js'
import { checkVersion, type NeededVersion, versionError } from '../packages/version.js'

/** Before 5.76.11, a paused or closing worker of BullMQ takes the next job after it gave one back. */
const OLDEST = '5.76.11'

/** Older versions lack these exports. An import by name would fail before the version is checked. */
export const {
  assertSchemaCompatibility,
  createPostgresBackend,
  DEFAULT_SCHEMA,
  isPgPool,
  PostgresQueueBackend,
  QueueEventsProducer,
  quoteSchemaName,
  runMigrations,
  WaitingError,
} = bullmq

const ownRequire = createRequire(packagesFrom())
const needed: NeededVersion = { user: "'lido/bullmq'", name: 'bullmq', oldest: OLDEST }
const neededByBackends: NeededVersion = {
  user: "'lido/bullmq' with PostgreSQL or another back end",
  name: 'bullmq',
  oldest: '6.0.0',
}

/** Throws a `PoolError` with the code `ERR_LIDO_PACKAGE_VERSION`. */
export function checkBullmq(): void {
  checkVersion(needed, ownRequire)
}

/** Throws as `checkBullmq()` does. */
export function checkBackends(): void {
  checkVersion(neededByBackends, ownRequire)
  if (createPostgresBackend === undefined) throw versionError(neededByBackends, 'an older version')
}

/** The package `pg` that BullMQ uses. With pnpm, only BullMQ's own folder may have it. Throws a `PoolError`. */
export function loadPg(): { Client: new (options: object) => any } {
  const places = [() => createRequire(ownRequire.resolve('bullmq')), () => ownRequire]
  for (const place of places) {
    try {
      return place()('pg')
    } catch {
      // It is in the next place, or missing.
    }
  }
  throw new PoolError(
    'ERR_LIDO_PACKAGE_VERSION',
    "'lido/bullmq' with PostgreSQL needs the package pg, which is not installed. Install it with: npm install pg",
  )
}

/**
 * BullMQ 5 removes the listeners of a connection that it closes. A connection that never opened emits its `error` after that, which would
 * end the process. Call it before the part can be closed.
 */
export function keepListeners(part: object): void {
  if (createPostgresBackend !== undefined) return
  const { connection, blockingConnection } = part as Record<string, EventEmitter | undefined>
  for (const emitter of [connection, blockingConnection]) {
    if (emitter !== undefined) emitter.removeAllListeners = () => emitter
  }
}

/** The parts of a BullMQ class or job that speak to the server. Version 5 names them otherwise. */
interface Internals {
  /** Version 6. */
  readonly backend?: any
  /** Version 5. */
  readonly scripts?: any
  /** A job has these of its worker. */
  readonly queue?: Internals
  readonly keys?: Record<string, string>
  readonly client?: Promise<any>
}

/** The operations on jobs that BullMQ's public methods use. */
export function commandsOf(part: object): any {
  const { backend, scripts } = part as Internals
  return backend ?? scripts
}

/** The keys in Redis. An empty object with another server. */
export function keysOf(part: object): Record<string, string | undefined> {
  const { queue, keys } = part as Internals
  return queue?.keys ?? keys ?? {}
}

/** The client of Redis. Only methods that all clients of BullMQ have may be called. */
export async function redisOf(part: object): Promise<any> {
  const { backend, queue, client } = part as Internals
  return await (backend === undefined ? (queue?.client ?? client) : backend.client)
}

/** Closes a part that is not connected yet. BullMQ's own `close()` of some parts would wait for the connection, and leave it open. */
export async function closeUnready(part: { close(): Promise<void> }): Promise<void> {
  const closing = ['backend', 'connection', 'blockingConnection'].map(async name => {
    if (Object.hasOwn(part, name)) await (part as any)[name]?.close(true)
  })
  // The loops of the part end too.
  await Promise.allSettled([...closing, part.close()])
}
