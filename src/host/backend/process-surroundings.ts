// What of a worker's options means what for a process: flags, arguments, environment. A worker never waits for a debugger
// that nobody asked to attach to it, nor takes the port of the one that is attached to this process.
import { constants } from '../../shared/base/host-builtins.js'

/** Flags of this process that say what it runs, or that only one process can have. */
const NOT_INHERITED =
  /^-(?:e|p|pe|i|c)$|^--(?:eval|print|interactive|check|test|watch|input-type|build-snapshot)\b/
const INSPECTOR = /^--(?:inspect|debug)(?:-\w+)*(?:=|$)/
/** Those of them whose value is the next word. */
const TAKES_NEXT_WORD =
  /^(?:-e|--eval|-p|--print|-pe|--input-type|--inspect-port|--debug-port|--build-snapshot-config|--watch-path|--watch-kill-signal|--test-(?:reporter|reporter-destination|name-pattern|skip-pattern|concurrency|timeout|shard|isolation|global-setup|coverage-\w+)|--experimental-test-isolation)$/
const INSPECTOR_WORD = /(^|\s)--(?:inspect|debug)(?:-\w+)*(?:=\S*)?(?=\s|$)/g

interface HeapLimits {
  maxOldGenerationSizeMb?: number
  maxYoungGenerationSizeMb?: number
}

/** The words of the command line after the program. */
export function processArguments(entry: string, options: Record<string, unknown>): string[] {
  const flags = (options.execArgv ?? []) as string[]
  const limits = heapFlags((options.resourceLimits ?? Object.create(null)) as HeapLimits)
  const words = ((options.argv ?? []) as unknown[]).map(String)
  return [...flags, ...limits, entry, ...words]
}

/** The flags of this process that its workers have too. */
export function inheritedFlags(flags: readonly string[]): string[] {
  const kept: string[] = []
  for (let at = 0; at < flags.length; at++) {
    const flag = flags[at]!
    if (TAKES_NEXT_WORD.test(flag)) at++
    else if (!NOT_INHERITED.test(flag) && !INSPECTOR.test(flag)) kept.push(flag)
  }
  return kept
}

function heapFlags({ maxOldGenerationSizeMb, maxYoungGenerationSizeMb }: HeapLimits): string[] {
  const flags: string[] = []
  if (maxOldGenerationSizeMb !== undefined) {
    flags.push(`--max-old-space-size=${Math.ceil(maxOldGenerationSizeMb)}`)
  }
  // The young generation is three semi-spaces.
  if (maxYoungGenerationSizeMb !== undefined) {
    flags.push(`--max-semi-space-size=${Math.max(1, Math.ceil(maxYoungGenerationSizeMb / 3))}`)
  }
  return flags
}

/** What the user gave, as it is; else that of this process, less its debugger. */
export function processEnvironment(given: unknown): NodeJS.ProcessEnv {
  if (given !== undefined) return given as NodeJS.ProcessEnv
  const { NODE_OPTIONS: options } = process.env
  if (options === undefined || !options.includes('--inspect')) return process.env
  return { ...process.env, NODE_OPTIONS: options.replaceAll(INSPECTOR_WORD, '$1').trim() }
}

/** As shells count the end by a signal. */
export function exitCodeOf(signal: NodeJS.Signals | null): number {
  return signal === null ? 1 : 128 + (constants.signals[signal] ?? 0)
}
