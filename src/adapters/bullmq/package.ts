// BullMQ as the user installed it: version 5 or 6. Both speak to Redis and Valkey; only version 6 speaks to PostgreSQL.
import * as bullmq from 'bullmq'
import { checkVersion, type NeededVersion, versionError } from '../packages/version.js'
import { packageUrl } from './module-urls.js'

/** Before 5.76.11, a paused or closing worker of BullMQ takes the next job after it gave one back. */
const OLDEST = '5.76.11'

/** Older versions lack these exports. An import by name would fail before the version is checked. */
export const { createPostgresBackend, isPgPool, QueueEventsProducer, WaitingError } = bullmq

const needed: NeededVersion = { user: "'lido/bullmq'", name: 'bullmq', oldest: OLDEST }
const neededByBackends: NeededVersion = {
  user: "'lido/bullmq' with PostgreSQL or another back end",
  name: 'bullmq',
  oldest: '6.0.0',
}

/** Throws a `PoolError` with the code `ERR_LIDO_PACKAGE_VERSION`. */
export function checkBullmq(): void {
  checkVersion(needed, packageUrl)
}

/** Throws as `checkBullmq()` does. */
export function checkBackends(): void {
  checkVersion(neededByBackends, packageUrl)
  if (createPostgresBackend === undefined) throw versionError(neededByBackends, 'an older version')
}
