// The host's part: its logger writes the lines of loggers in workers. They go through the methods of that logger, so its transports,
// redaction, hooks, formatters and mixin apply. The serializers have run in the worker.
import type { Pool } from '../../index.js'
import { type LogReceiver, receiveLogs } from '../../worker-kit.js'

type Write = (fields: object, message?: string) => void

/** A logger of pino, or another one with these methods, such as `app.log` of Fastify. */
export interface HostLogger {
  /** The lowest level that the logger writes. */
  level: string
  /** Writes a line of this level. */
  fatal: Write
  /** Writes a line of this level. */
  error: Write
  /** Writes a line of this level. */
  warn: Write
  /** Writes a line of this level. */
  info: Write
  /** Writes a line of this level. */
  debug: Write
  /** Writes a line of this level. */
  trace: Write
}

/** What pino adds to the methods. */
interface PinoParts {
  levels?: { labels: Record<number, string>; values: Record<string, number> }
  levelVal?: number
  on?(event: 'level-change', listener: (...args: unknown[]) => void): unknown
}

const standardLevels = { trace: 10, debug: 20, info: 30, warn: 40, error: 50, fatal: 60 }

/** The level and the time, as the logger of a worker begins each line. */
const head = /^\{"level":\d+,"time":(\d+)[,}]/

/** By logger: the pools to tell its level. One listener for each logger, however many pools a program creates. */
const followers = new WeakMap<HostLogger, Set<() => void>>()

/**
 * Lets a logger write the lines of all loggers that handlers of the pool made by `workerLogger()`. Its level decides which lines workers
 * send. A later call replaces the logger.
 */
export function logWorkers(pool: Pool<any, any>, logger: HostLogger): void {
  checkLogger(logger)
  const tellLevel = receiveLogs(Object(pool), new PinoReceiver(logger))
  if (tellLevel === null) throw new TypeError('logWorkers() needs a pool of lido as its first argument.')
  const following = followersOf(logger)
  following.add(tellLevel)
  pool.once('close', () => following.delete(tellLevel))
}

function checkLogger(logger: HostLogger): void {
  const missing = Object.keys(standardLevels).filter(
    name => typeof (logger as Partial<HostLogger> | null | undefined)?.[name as 'info'] !== 'function',
  )
  if (missing.length === 0) return
  throw new TypeError(
    `logWorkers() needs a logger of pino as its second argument. The given value has no method '${missing[0]}'.`,
  )
}

function followersOf(logger: HostLogger): Set<() => void> {
  let following = followers.get(logger)
  if (following === undefined) {
    following = new Set()
    followers.set(logger, following)
    const all = following
    ;(logger as PinoParts).on?.('level-change', () => {
      for (const tellLevel of all) tellLevel()
    })
  }
  return following
}

class PinoReceiver implements LogReceiver {
  readonly #logger: HostLogger & PinoParts
  /** The logger with the time of the worker's line and without serializers. */
  readonly #writer: HostLogger
  #time = 0

  constructor(logger: HostLogger) {
    this.#logger = logger
    this.#writer = withoutSerializers(withTime(logger, () => this.#time))
  }

  get level(): number {
    const { level, levels, levelVal } = this.#logger
    return levelVal ?? levels?.values[level] ?? standardLevels[level as keyof typeof standardLevels] ?? 0
  }

  write(level: number, line: string): void {
    if (level < this.level) return
    const start = head.exec(line)
    if (start === null) return
    this.#time = Number(start[1])
    const { msg, ...fields } = JSON.parse(`{${line.slice(start[0].length) || '}'}`)
    this.#writer[this.#methodOf(level)](fields, msg)
  }

  /** The host's logger may lack a level of the worker's. Then the line has the next lower level. */
  #methodOf(level: number): 'info' {
    const label = this.#logger.levels?.labels[level]
    if (label !== undefined && label in this.#writer) return label as 'info'
    const lower = Object.entries(standardLevels).filter(([, number]) => number <= level)
    return (lower.at(-1)?.[0] ?? 'trace') as 'info'
  }
}

/** A logger that derives from the given one and shares its level, bindings and destination. */
function derive(logger: HostLogger, symbol: symbol, value: unknown): HostLogger {
  return Object.create(logger, { [symbol]: { value } })
}

/**
 * The symbol of a setting of the logger. The symbols are found by name: the logger may come from another copy of pino than the one that this
 * module could import.
 */
function symbolOf(logger: object, name: string): symbol | undefined {
  for (let at: object | null = logger; at !== null; at = Object.getPrototypeOf(at)) {
    const symbol = Object.getOwnPropertySymbols(at).find(({ description }) => description === name)
    if (symbol !== undefined) return symbol
  }
  return undefined
}

/** The values are plain data, which serializers for requests or errors would spoil. */
function withoutSerializers(logger: HostLogger): HostLogger {
  const symbol = symbolOf(logger, 'pino.serializers')
  return symbol === undefined ? logger : derive(logger, symbol, Object.create(null))
}

/** Writes each line with the time at which the worker logged it, in the form that the logger gives to its own times. */
function withTime(logger: HostLogger, time: () => number): HostLogger {
  const symbol = symbolOf(logger, 'pino.time')
  if (symbol === undefined) return logger
  const ownTime = (logger as unknown as Record<symbol, () => string>)[symbol]!
  const form = formOf(ownTime.call(logger))
  return form === null ? logger : derive(logger, symbol, () => form(time()))
}

/** How a logger writes times, by an example. `null`: a form that is not known, or no time at all. */
function formOf(example: string): ((time: number) => string) | null {
  const [, name, value] = /^,"([^"]*)":(.*)$/.exec(example) ?? []
  if (name === undefined || value === undefined) return null
  const start = `,"${name}":`
  if (/^\d{13}$/.test(value)) return time => `${start}${time}`
  if (/^\d{10}$/.test(value)) return time => `${start}${Math.round(time / 1000)}`
  const iso = /^"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}(\d*)Z"$/.exec(value)
  if (iso === null) return null
  const zeros = '0'.repeat(iso[1]!.length)
  return time => `${start}"${new Date(time).toISOString().slice(0, -1)}${zeros}Z"`
}
