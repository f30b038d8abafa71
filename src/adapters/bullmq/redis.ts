// The options of `ioredis` that keep a host or a caller from waiting forever for a connection that died without a sign.
import { realClock, type Timer } from '../../kit.js'

/** The longest command of BullMQ waits 10 s for a job or an event. */
const LONGEST_COMMAND_MS = 10_000
/** How long an answer may take beyond that. */
const ANSWER_LIMIT_MS = 3000
const KEEP_ALIVE_MS = 10_000
const LONGEST_RECONNECT_MS = 2000

/** A client of `ioredis`, node-redis or Bun that the user made. Its options are the user's. */
export function isRedisClient(connection: unknown): boolean {
  const { duplicate, sendCommand, send } = Object(connection)
  return [duplicate, sendCommand, send].some(member => typeof member === 'function')
}

/**
 * The options for BullMQ. The user's own count.
 * @param repeatsCommands the client repeats the commands that a read-only server refuses
 * @param drainDelay how many seconds an idle worker waits in one command. BullMQ's option of this name
 */
export function redisOptions(
  connection: string | object,
  drainDelay: number,
  repeatsCommands: boolean,
): object {
  return {
    keepAlive: KEEP_ALIVE_MS,
    // Without an answer to a command, ioredis connects again and repeats the command.
    socketTimeout: Math.max(drainDelay * 1000, LONGEST_COMMAND_MS) + ANSWER_LIMIT_MS,
    // BullMQ's own pause grows to 20 s.
    retryStrategy: (attempt: number) => Math.min(attempt * 200, LONGEST_RECONNECT_MS),
    // After a failover the old server is read-only, and its address leads to the new one. 1: connect again. 2: also repeat the command.
    reconnectOnError: ({ message }: Error) => /\bREADONLY\b/.test(message) && (repeatsCommands ? 2 : 1),
    ...(typeof connection === 'string' ? { url: connection.replace(/^valkey/, 'redis') } : connection),
  }
}

/** The clients of a part of BullMQ. A worker has a second one, which waits for jobs. */
export async function redisClientsOf(part: object): Promise<RedisClient[]> {
  const { backend, connection, blockingConnection } = part as any
  // BullMQ 5 has no back end.
  const clients = backend
    ? [backend.client, backend.blockingClient]
    : [connection?.client, blockingConnection?.client]
  return (await Promise.all(clients)).filter(client => client !== undefined)
}

/** What lido needs of a client. BullMQ 6 wraps clients, and runs scripts by `runCommand()`. */
export interface RedisClient {
  readonly status?: string
  readonly commandQueue?: { readonly length: number }
  readonly stream?: NodeJS.EventEmitter
  ping?(): Promise<unknown>
  disconnect?(): void
  on(event: string, listener: () => void): void
  defineCommand(name: string, script: { numberOfKeys: number; lua: string }): void
  runCommand?(name: string, args: readonly unknown[]): Promise<any>
}

/** A router forgets a silent connection, and tells nobody. An idle client asks the server so often. */
const PING_EVERY_MS = 5000

/** Learns what the clients of `ioredis` hear, and keeps idle ones talking. `socketTimeout` then closes dead ones. */
export class RedisWatch {
  readonly #onHeard: () => void
  readonly #clients = new Set<RedisClient>()
  #timer: Timer | null = null

  constructor(onHeard: () => void) {
    this.#onHeard = onHeard
  }

  add(client: RedisClient): void {
    // Other clients have no such member.
    if (client.commandQueue === undefined || this.#clients.has(client)) return
    this.#clients.add(client)
    const watchStream = () => {
      client.stream?.on('data', this.#onHeard)
      // ioredis adds a listener for each command that a read-only server refused.
      client.stream?.setMaxListeners(0)
    }
    watchStream()
    client.on('ready', watchStream)
    this.#timer ??= realClock.after(PING_EVERY_MS, () => this.#tick(), false)
  }

  /** BullMQ closes its clients politely, and waits for a server that does not answer. */
  disconnect(): void {
    this.#timer?.cancel()
    this.#timer = null
    for (const client of this.#clients) client.disconnect!()
    this.#clients.clear()
  }

  #tick(): void {
    for (const client of this.#clients) {
      if (client.status === 'end') this.#clients.delete(client)
      else if (client.status === 'ready' && client.commandQueue!.length === 0) client.ping!().catch(() => {})
    }
    this.#timer = this.#clients.size === 0 ? null : realClock.after(PING_EVERY_MS, () => this.#tick(), false)
  }
}

const scripts = {
  lidoTime: { numberOfKeys: 0, lua: "return redis.call('TIME')" },
  // A job moves between two reads, so one script reads all states. A job in none of the sets waits in a list.
  lidoStates: {
    numberOfKeys: 6,
    lua: `
local sets = { 'completed', 'failed', 'delayed', 'prioritized', 'waiting-children' }
local active = {}
for _, id in ipairs(redis.call('LRANGE', KEYS[6], 0, -1)) do active[id] = true end
local states = {}
for i = 2, #ARGV do
  local id = ARGV[i]
  local state = active[id] and 'active' or nil
  for s = 1, #sets do
    if state then break end
    if redis.call('ZSCORE', KEYS[s], id) then state = sets[s] end
  end
  if not state and redis.call('EXISTS', ARGV[1] .. id) == 1 then state = 'waiting' end
  states[i - 1] = state or ''
end
return states`,
  },
}

const prepared = new WeakSet<RedisClient>()

async function runScript(client: RedisClient, name: keyof typeof scripts, args: unknown[]): Promise<any> {
  if (!prepared.has(client)) {
    for (const [name, script] of Object.entries(scripts)) client.defineCommand(name, script)
    prepared.add(client)
  }
  return await (client.runCommand?.(name, args) ?? (client as any)[name](...args))
}

export async function redisTime(client: RedisClient): Promise<number> {
  const [seconds, microseconds] = await runScript(client, 'lidoTime', [])
  return Number(seconds) * 1000 + Number(microseconds) / 1000
}

/** The server answers no other request during this script. It takes about 2 ms for 1,000 jobs. */
const MOST_JOBS_PER_SCRIPT = 1000

/** @param toKey gives the key of a part of the queue */
export async function redisStates(
  client: RedisClient,
  toKey: (type: string) => string,
  jobIds: readonly string[],
): Promise<(readonly [id: string, state: string])[]> {
  const keys = ['completed', 'failed', 'delayed', 'prioritized', 'waiting-children', 'active'].map(toKey)
  const found: [string, string][] = []
  for (let start = 0; start < jobIds.length; start += MOST_JOBS_PER_SCRIPT) {
    const ids = jobIds.slice(start, start + MOST_JOBS_PER_SCRIPT)
    const states: string[] = await runScript(client, 'lidoStates', [...keys, toKey(''), ...ids])
    states.forEach((state, index) => {
      if (state !== '') found.push([ids[index]!, state])
    })
  }
  return found
}
