// Turns the options of a worker into the flags, arguments and environment of a process. A worker inherits no debugger
// flags. Otherwise it would wait for a debugger, or take the port of the debugger of this process.
import { ownFields } from '../../shared/options/option-table.js'
import { constants } from '../../shared/platform/host-node-modules.js'

/** Flags that name the program to run, and flags that only one process can have. */
const NOT_INHERITED =
  /^-(?:e|p|pe|i|c)$|^--(?:eval|print|interactive|check|test|experimental-test|watch|input-type|build-snapshot|snapshot-blob|title)\b/
const INSPECTOR = /^--(?:inspect|debug)(?:-\w+)*(?:=|$)/
/** Program text follows these flags. It may begin with a dash. */
const EVALUATES = /^(?:-e|--eval|-p|--print|-pe)$/
const INSPECTOR_WORD = /(^|\s)--(?:inspect|debug)(?:-\w+)*(?:=\S*)?(?=\s|$)/g
/** From here on a limit is the same as no limit. Node overflows at much larger numbers, or refuses them. */
const NO_LIMIT_MB = 2 ** 32

interface HeapLimits {
  maxOldGenerationSizeMb?: number
  maxYoungGenerationSizeMb?: number
}

/** The command line after the name of the program. */
export function processArguments(entry: readonly string[], options: Record<string, unknown>): string[] {
  // The pool's label. A title in the user's own flags comes later and replaces it.
  const title = options.name === undefined ? [] : [`--title=${options.name}`]
  const flags = (options.execArgv ?? []) as string[]
  const limits = heapFlags((options.resourceLimits ?? Object.create(null)) as HeapLimits)
  const words = ((options.argv ?? []) as unknown[]).map(String)
  return [...title, ...flags, ...limits, ...entry, ...words]
}

/** The flags of this process that its workers inherit. */
export function inheritedFlags(flags: readonly string[]): string[] {
  const kept: string[] = []
  for (let at = 0; at < flags.length; at++) {
    const flag = flags[at]!
    if (!NOT_INHERITED.test(flag) && !INSPECTOR.test(flag)) kept.push(flag)
    // Drop the value of the flag as well. `flags` holds only flags and their values, never the name of the program.
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
  // The young generation has three semi-spaces.
  if (maxYoungGenerationSizeMb < NO_LIMIT_MB) {
    flags.push(`--max-semi-space-size=${Math.max(1, Math.ceil(maxYoungGenerationSizeMb / 3))}`)
  }
  return flags
}

/** Uses the user's environment, or the one of this process without debugger flags. */
export function processEnvironment(given: unknown): NodeJS.ProcessEnv {
  // Node also reads inherited variables.
  const environment = ownFields((given ?? process.env) as NodeJS.ProcessEnv)
  const { NODE_OPTIONS: options } = environment
  if (given === undefined && options?.includes('--inspect')) {
    environment.NODE_OPTIONS = options.replaceAll(INSPECTOR_WORD, '$1').trim()
  }
  return environment
}

/** Like a shell: 128 plus the number of the signal. */
export function exitCodeOf(signal: NodeJS.Signals | null): number {
  return signal === null ? 1 : 128 + (constants.signals[signal] ?? 0)
}
