// The requests of `npx lido top` and `npx lido trace PID`: one JSON object a line, `{ id, command, … }`. The answer is a line with the same
// id: `{ id, result }` or `{ id, error }`. The answer to `trace` are the parts of the file:
// each is a line `{ id, bytes }`, and so many bytes. The last part has 0 bytes.
import type { Socket } from 'node:net'
import { realClock } from '../../shared/platform/clock.js'
import type { InspectedPools } from './inspected-pools.js'
import type { RecordedTrace } from './recorded-trace.js'
import { TraceRecorder } from './trace.js'

const LONGEST_LINE = 64 * 1024
/** As for `pool.trace()`. */
const MOST_SECONDS = 600
const LONGEST_STALL_MS = 10_000

/** A request that this side understands. */
type Request = { id: unknown } & ({ command: 'stats' } | { command: 'trace'; seconds: number; cpu: boolean })

/** Answers the requests of one connection. The connection never keeps the process alive. */
export function serveRequests(connection: Socket, pools: InspectedPools): void {
  const closed = new AbortController()
  let rest = ''
  connection.setEncoding('utf8')
  connection.unref()
  // A client that leaves half-way is no problem of the program.
  connection.on('error', () => {})
  connection.on('close', () => closed.abort())
  const onData = (text: string) => {
    const lines = (rest + text).split('\n')
    rest = lines.pop()!
    if ([rest, ...lines].some(({ length }) => length > LONGEST_LINE)) {
      connection.off('data', onData)
      connection.end(line({ id: null, error: `A request has at most ${LONGEST_LINE} characters.` }))
      return
    }
    for (const line of lines) {
      if (line.trim() !== '') void answer(line, connection, pools, closed.signal)
    }
  }
  connection.on('data', onData)
}

async function answer(
  text: string,
  connection: Socket,
  pools: InspectedPools,
  closed: AbortSignal,
): Promise<void> {
  let id: unknown = null
  try {
    const given = parse(text)
    id = given.id ?? null
    const request = check(given)
    if (request.command === 'stats') {
      send(connection, { id, result: programStats(pools) })
      return
    }
    const trace = await record(pools, request, closed)
    if (!closed.aborted) await sendFile(connection, id, trace)
  } catch (failure) {
    send(connection, { id, error: failure instanceof Error ? failure.message : String(failure) })
  }
}

/** Records all pools until the time is over or the client leaves. */
async function record(
  pools: InspectedPools,
  { seconds, cpu }: { seconds: number; cpu: boolean },
  left: AbortSignal,
): Promise<RecordedTrace> {
  const traced = pools.open.map(open => open.traced)
  if (traced.length === 0) throw new Error('The program has no open pool.')
  const recorder = new TraceRecorder(traced, { cpu, keepMs: Number.POSITIVE_INFINITY })
  const forget = pools.onAdd(pool => recorder.add(pool))
  try {
    await recorder.start()
    await waitFor(seconds * 1000, left)
  } catch (failure) {
    await recorder.stop()
    throw failure
  } finally {
    forget()
  }
  return await recorder.stop()
}

/** The program stays alive until the client has the file, or reads no more. It goes on with its work between the parts. */
async function sendFile(connection: Socket, id: unknown, trace: RecordedTrace): Promise<void> {
  connection.ref()
  connection.setTimeout(LONGEST_STALL_MS, () => connection.destroy())
  for (const text of trace.pieces()) {
    const part = Buffer.from(text)
    await write(connection, Buffer.concat([Buffer.from(line({ id, bytes: part.byteLength })), part]))
    await new Promise<void>(resolve => realClock.nextTurn(resolve))
  }
  await write(connection, line({ id, bytes: 0 }))
  connection.setTimeout(0)
  connection.unref()
}

/** Resolves when the data has left. Rejects when the client has left. */
function write(connection: Socket, data: string | Buffer): Promise<void> {
  return new Promise((resolve, reject) => {
    connection.write(data, failure => (failure ? reject(failure) : resolve()))
  })
}

function waitFor(ms: number, left: AbortSignal): Promise<void> {
  return new Promise(resolve => {
    const timer = realClock.after(ms, resolve)
    left.addEventListener('abort', () => {
      timer.cancel()
      resolve()
    })
    if (left.aborted) resolve()
  })
}

function send(connection: Socket, answer: object): void {
  if (connection.writable) connection.write(line(answer))
}

function line(answer: object): string {
  return `${JSON.stringify(answer)}\n`
}

function parse(text: string): { [field: string]: unknown } {
  try {
    const request = JSON.parse(text)
    if (typeof request === 'object' && request !== null && !Array.isArray(request)) return request
  } catch {
    // The error below says what a request is.
  }
  throw new Error('A request is one line with a JSON object.')
}

function check({ id, command, seconds, cpu = true }: { [field: string]: unknown }): Request {
  if (command === 'stats') return { id, command }
  if (command !== 'trace') {
    throw new Error(
      `Unknown command ${JSON.stringify(command) ?? 'undefined'}. The commands are 'stats' and 'trace'.`,
    )
  }
  if (typeof seconds !== 'number' || !(seconds > 0 && seconds <= MOST_SECONDS)) {
    throw new Error(
      `'seconds' is ${JSON.stringify(seconds) ?? 'undefined'}. Give a number above 0, at most ${MOST_SECONDS}.`,
    )
  }
  if (typeof cpu !== 'boolean') throw new Error(`'cpu' is ${JSON.stringify(cpu)}. Give true or false.`)
  return { id, command, seconds, cpu }
}

function programStats(pools: InspectedPools): object {
  return {
    pid: process.pid,
    program: process.argv[1] ?? null,
    node: process.version,
    uptimeMs: Math.round(process.uptime() * 1000),
    pools: pools.open.map(({ pool }) => pool.stats()),
  }
}
