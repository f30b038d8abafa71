// What of a worker's options means what for a process: flags, arguments, environment. A worker never waits for a debugger
// that nobody asked to attach to it, nor takes the port of the one that is attached to this process.
import { constants } from '../../shared/platform/host-node-modules.js'

/** Flags of this process that say what it runs, or that only one process can have. */
const NOT_INHERITED =
  /^-(?:e|p|pe|i|c)$|^--(?:eval|print|interactive|check|test|experimental-test|watch|input-type|build-snapshot|snapshot-blob|title)\b/
const INSPECTOR = /^--(?:inspect|debug)(?:-\w+)*(?:=|$)/
/** Those of them whose next word is a program, which may begin as a flag does. */
const EVALUATES = /^(?:-e|--eval|-p|--print|-pe)$/
const INSPECTOR_WORD = /(^|\s)--(?:inspect|debug)(?:-\w+)*(?:=\S*)?(?=\s|$)/g
/** From so many on a limit is none: more than any machine has. Much larger ones wrap around in Node, or are no number to it. */
const NO_LIMIT_MB = 2 ** 32

interface HeapLimits {
  maxOldGenerationSizeMb?: number
  maxYoungGenerationSizeMb?: number
}

/** The words of the command line after the program. */
export function processArguments(entry: string, options: Record<string, unknown>): string[] {
  // The pool's label. A title in the user's own flags comes later and wins.
  const title = options.name === undefined ? [] : [`--title=${options.name}`]
  const flags = (options.execArgv ?? []) as string[]
  const limits = heapFlags((options.resourceLimits ?? Object.create(null)) as HeapLimits)
  const words = ((options.argv ?? []) as unknown[]).map(String)
  return [...title, ...flags, ...limits, entry, ...words]
}

/** The flags of this process that its workers have too. */
export function inheritedFlags(flags: readonly string[]): string[] {
  const kept: string[] = []
  for (let at = 0; at < flags.length; at++) {
    const flag = flags[at]!
    if (!NOT_INHERITED.test(flag) && !INSPECTOR.test(flag)) kept.push(flag)
    // Its value goes with it; no program stands among these words.
    else if (EVALUATES.test(flag) || !(flags[at + 1] ?? '-').startsWith('-')) at++
  }
  return kept
}

function heapFlags({
  maxOldGenerationSizeMb = NO_LIMIT_MB,
  maxYoungGenerationSizeMb = NO_LIMIT_MB,
}: HeapLimits): string[] {
  const flags: string[] = []
  if (maxOldGenerationSizeMb < NO_LIMIT_MB) {
    flags.push(`--max-old-space-size=${Math.ceil(maxOldGenerationSizeMb)}`)
  }
  // The young generation is three semi-spaces.
  if (maxYoungGenerationSizeMb < NO_LIMIT_MB) {
    flags.push(`--max-semi-space-size=${Math.max(1, Math.ceil(maxYoungGenerationSizeMb / 3))}`)
  }
  return flags
}

/** What the user gave; else that of this process, less its debugger. Under `node --watch` no child is to report to it. */
export function processEnvironment(given: unknown): NodeJS.ProcessEnv {
  const { WATCH_REPORT_DEPENDENCIES: _, ...environment } = (given ?? process.env) as NodeJS.ProcessEnv
  const { NODE_OPTIONS: options } = environment
  if (given !== undefined || options === undefined || !options.includes('--inspect')) return environment
  return { ...environment, NODE_OPTIONS: options.replaceAll(INSPECTOR_WORD, '$1').trim() }
}

/** As shells count the end by a signal. */
export function exitCodeOf(signal: NodeJS.Signals | null): number {
  return signal === null ? 1 : 128 + (constants.signals[signal] ?? 0)
}
