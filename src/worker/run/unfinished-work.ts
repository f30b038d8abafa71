// Finds work that handlers have started and did not await: requests to the system and to HTTP servers. A worker that
// stops as planned waits for it. Open connections and timers do not count, so an idle worker stops at once.
import { getBuiltinModule } from '../../shared/platform/node-modules.js'
import { workerClock } from './clock.js'

/** The parts of Node's `ClientRequest` and of a request of `fetch()` that name it. */
interface HttpRequest {
  method?: string
  host?: string
  origin?: string | URL
  /** Of `fetch()`: the protocol that a WebSocket asks for. */
  upgrade?: string | null
  /** Of `ClientRequest`. */
  getHeader?(name: string): unknown
}

interface Connection {
  readonly bytesRead: number
  readonly bytesWritten: number
  once(event: 'close', listener: () => void): unknown
}

/** Node's names of requests. The other active resources are handles and timers. */
const REQUEST = /^FSReq|Req(Wrap)?$|(Connect|Write|Shutdown|Send|Query)Wrap$/
/** Of Node's `http` and of `fetch()`. A request ends with the first part of its answer. */
const REQUEST_STARTS = ['http.client.request.start', 'undici:request:create']
const REQUEST_ENDS = [
  'http.client.response.finish',
  'http.client.request.error',
  'undici:request:headers',
  'undici:request:error',
]
/** A chain of promises may start its next request one turn after the last one. */
const QUIET_TURNS = 2
const CHECK_AFTER_MS = 2
/** After a request, a connection counts while data moves: a database opens a connection by several messages. */
const QUIET_CONNECTION_MS = 50

export class UnfinishedWork {
  readonly #httpRequests = new Set<HttpRequest>()
  readonly #connections = new Set<Connection>()

  /** Create it before any file of the user is loaded. */
  constructor() {
    const { subscribe } = getBuiltinModule('node:diagnostics_channel')
    for (const channel of REQUEST_STARTS)
      subscribe(channel, message => {
        const request = requestOf(message)
        if (!opensConnection(request)) this.#httpRequests.add(request)
      })
    for (const channel of REQUEST_ENDS)
      subscribe(channel, message => this.#httpRequests.delete(requestOf(message)))
    subscribe('net.client.socket', message => {
      const { socket } = message as { socket: Connection }
      this.#connections.add(socket)
      socket.once('close', () => this.#connections.delete(socket))
    })
  }

  /** The names of unfinished requests. */
  list(): string[] {
    const { getActiveResourcesInfo } = process as { getActiveResourcesInfo?: () => string[] }
    const active = getActiveResourcesInfo?.call(process) ?? []
    const requests = active.filter(name => REQUEST.test(name))
    return [...requests, ...[...this.#httpRequests].map(nameOf)]
  }

  /**
   * Waits until the work is finished, at most until `deadline` on the worker's clock. Returns what is unfinished then.
   * @param onWait called when there is something to wait for
   */
  async finish(deadline: number, onWait: () => void): Promise<string[]> {
    let turns = 0
    /** The last time when work was found. `null`: never. */
    let busyAt: number | null = null
    let bytes = 0
    for (;;) {
      const found = this.list()
      const now = workerClock.now()
      const movedBytes = this.#movedBytes()
      if (found.length > 0 && busyAt === null) onWait()
      if (found.length > 0 || (busyAt !== null && movedBytes !== bytes)) busyAt = now
      bytes = movedBytes
      if (busyAt === null ? ++turns > QUIET_TURNS : now - busyAt >= QUIET_CONNECTION_MS) return []
      if (now >= deadline) return found
      await new Promise<void>(resolve => {
        if (busyAt === null) workerClock.nextTurn(resolve)
        else workerClock.after(CHECK_AFTER_MS, resolve, true)
      })
    }
  }

  #movedBytes(): number {
    let bytes = 0
    for (const { bytesRead, bytesWritten } of this.#connections) bytes += bytesRead + bytesWritten
    return bytes
  }
}

function requestOf(message: unknown): HttpRequest {
  return (message as { request: HttpRequest }).request
}

/** A WebSocket or a tunnel. Its answer is a connection, and no channel tells of it. */
function opensConnection(request: HttpRequest): boolean {
  return request.method === 'CONNECT' || Boolean(request.upgrade) || Boolean(request.getHeader?.('upgrade'))
}

/** Without the path, which may contain secrets. */
function nameOf({ method, host, origin }: HttpRequest): string {
  return `${method} ${origin ?? host}`
}
