// The worker's part: a logger of pino that makes lines in the worker and writes none. The host's logger writes them.
import { type Logger, type LoggerOptions, pino } from 'pino'
// Gives tasks their context, by which a line finds its task.
import '../../worker.js'
import { currentLogs, type LogSink } from '../../worker-kit.js'

/** Options that the host's logger decides. */
type OfHost = 'transport' | 'timestamp' | 'messageKey' | 'nestedKey' | 'crlf' | 'browser'

/**
 * The options of pino, without the ones that the host's logger decides. `level`: the worker makes no lines below it; by default the level of
 * the host's logger decides alone.
 */
export type WorkerLoggerOptions<CustomLevels extends string = never> = Omit<
  LoggerOptions<CustomLevels>,
  OfHost
>

const refused: Record<OfHost, string> = {
  transport:
    'It would start a thread for each worker. Give it to the logger of the host, which writes all lines.',
  timestamp: 'The logger of the host writes the time of the line. Give it to that logger.',
  messageKey: 'The logger of the host writes the message. Give it to that logger.',
  nestedKey: 'The logger of the host writes the fields. Give it to that logger.',
  crlf: 'The logger of the host writes the lines. Give it to that logger.',
  browser: 'A worker is no browser. Leave it out.',
}

const LEVEL_AT = '{"level":'.length
const TIME_LENGTH = ',"time":1700000000000'.length

/** The level of pino. It counts where a handler runs without a pool. */
const LEVEL_WITHOUT_POOL = 30

/**
 * A logger for handlers. In a worker, the logger that the program gave to `logWorkers()` writes its lines, with the fields `worker`, `task`
 * and `handler`. Without a pool, for example in a test that calls the handler, it writes to stdout. It starts no thread.
 *
 * Throws `TypeError` for an option that the host's logger decides.
 */
export function workerLogger<CustomLevels extends string = never>(
  options: WorkerLoggerOptions<CustomLevels> = {},
): Logger<CustomLevels> {
  for (const [option, advice] of Object.entries(refused)) {
    if ((options as Record<string, unknown>)[option] === undefined) continue
    throw new TypeError(`workerLogger() does not take the option '${option}'. ${advice}`)
  }
  currentLogs()?.announce()
  const leastLevel = () => currentLogs()?.level ?? (options.level === undefined ? LEVEL_WITHOUT_POOL : 0)
  const { logMethod } = options.hooks ?? {}
  const { level: _, ...formatters } = options.formatters ?? {}
  const logger = pino<CustomLevels>(
    {
      ...options,
      level: options.level ?? lowestLevel(options),
      base: options.base ?? {},
      timestamp: true,
      messageKey: 'msg',
      formatters,
      hooks: {
        ...options.hooks,
        logMethod(args, method, level) {
          if (level < leastLevel()) return
          if (logMethod === undefined) method.apply(this, args)
          else logMethod.call(this, args, method, level)
        },
      },
    },
    toHost,
  )
  const { isLevelEnabled } = logger
  return Object.defineProperty(logger, 'isLevelEnabled', {
    value(this: Logger<CustomLevels>, level: string) {
      return isLevelEnabled.call(this, level) && this.levels.values[level]! >= leastLevel()
    },
  })
}

function lowestLevel({ customLevels = {}, useOnlyCustomLevels }: WorkerLoggerOptions<any>): string {
  const levels = {
    ...(useOnlyCustomLevels ? {} : { trace: 10 }),
    ...(customLevels as Record<string, number>),
  }
  return Object.keys(levels).reduce((lowest, name) =>
    levels[name as 'trace']! < levels[lowest as 'trace']! ? name : lowest,
  )
}

/** By sink: the fields that tell where a line comes from, as text. */
const places = new WeakMap<LogSink, string>()

function placeOf(logs: LogSink): string {
  let place = places.get(logs)
  if (place === undefined) {
    place = `,"worker":${logs.workerId}`
    const { task } = logs
    // A call at the start of a worker has no number.
    if (task !== null && task.taskId > 0) {
      place += `,"task":${task.taskId},"handler":${JSON.stringify(task.handler.name)}`
      for (const [name, value] of Object.entries(task.carried ?? {})) {
        place += `,${JSON.stringify(name)}:${asJson(value)}`
      }
    }
    places.set(logs, place)
  }
  return place
}

function asJson(value: unknown): string {
  try {
    return JSON.stringify(value) ?? 'null'
  } catch {
    return '"[not JSON]"'
  }
}

const toHost = {
  /** @param line begins with its level and its time: `{"level":30,"time":1700000000000` */
  write(line: string): void {
    const logs = currentLogs()
    if (logs === null) return void process.stdout.write(line)
    const levelEnd = line.indexOf(',', LEVEL_AT)
    const timeEnd = levelEnd + TIME_LENGTH
    logs.write(
      Number(line.slice(LEVEL_AT, levelEnd)),
      line.slice(0, timeEnd) + placeOf(logs) + line.slice(timeEnd),
    )
  },
  flush(done?: () => void): void {
    currentLogs()?.flush()
    done?.()
  },
  flushSync(): void {
    currentLogs()?.flush()
  },
}
