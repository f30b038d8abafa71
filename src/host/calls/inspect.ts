// `pool.trace()`, `Pool.trace()` and `pool.profile()`: check the options, and load the code that records.
import type { TaskMessage } from '../../api/channels.js'
import type { CpuProfile, ProfileOptions, Trace, TraceOptions } from '../../api/trace.js'
import { InvalidTaskError, PoolClosedError, type PublicFunction } from '../../shared/errors/pool-errors.js'
import { boolean, value } from '../../shared/options/option-rules.js'
import {
  mayHoldOptions,
  OptionErrors,
  OptionTable,
  type RulesFor,
} from '../../shared/options/option-table.js'
import { realClock } from '../../shared/platform/clock.js'
import { getBuiltinModule } from '../../shared/platform/node-modules.js'
import type { Engine } from '../engine/engine.js'
import { loadInspection } from '../load-inspection.js'
import { signalRule } from './call-options.js'
import { rejectCall } from './run.js'

const DEFAULT_SECONDS = 5
/** A longer recording would need much memory: about 2 MB for a minute of one thread. */
const MOST_SECONDS = 600

function seconds(expected: string, isRight: (given: number) => boolean) {
  return value<number>(given => typeof given === 'number' && given > 0 && isRight(given), expected, {
    default: DEFAULT_SECONDS,
  })
}

const traceTable = new OptionTable({
  seconds: seconds(
    `a number above 0 and at most ${MOST_SECONDS}, or Infinity`,
    given => given <= MOST_SECONDS || given === Number.POSITIVE_INFINITY,
  ),
  cpu: boolean({ default: true }),
  signal: signalRule,
} satisfies RulesFor<TraceOptions>)

const profileTable = new OptionTable({
  seconds: seconds(`a number above 0 and at most ${MOST_SECONDS}`, given => given <= MOST_SECONDS),
  signal: signalRule,
} satisfies RulesFor<ProfileOptions>)

const OTHER_NAMES = {
  abortSignal: "Use 'signal'.",
  duration: "Use 'seconds'.",
  timeout: "Use 'seconds'.",
}
const traceErrors = new OptionErrors('trace()', InvalidTaskError, OTHER_NAMES)
const profileErrors = new OptionErrors('profile()', InvalidTaskError, OTHER_NAMES)

/** @param entry the public function that the program called */
export async function trace(
  engines: readonly (Engine | undefined)[],
  given: TraceOptions | undefined,
  entry: PublicFunction,
): Promise<Trace> {
  try {
    if (given !== undefined && !mayHoldOptions(given)) traceErrors.noObject(given, 'seconds: 5')
    const { signal, ...options } = traceTable.read(given ?? {}, traceErrors)
    if (options.seconds === Number.POSITIVE_INFINITY && (signal ?? null) === null)
      traceErrors.contradiction('signal', NEEDS_SIGNAL)
    const pools = openPools(engines)
    const early = earlyTasks()
    const { traceOf } = await loadInspection()
    return await traceOf(pools, { ...options, ...early, signal: signal ?? null })
  } catch (problem) {
    return rejectCall(problem, entry)
  }
}

/** @param entry the public function that the program called */
export async function profile(
  engine: Engine,
  given: ProfileOptions | undefined,
  entry: PublicFunction,
): Promise<CpuProfile> {
  try {
    if (given !== undefined && !mayHoldOptions(given)) profileErrors.noObject(given, 'seconds: 5')
    const { signal, ...options } = profileTable.read(given ?? {}, profileErrors)
    const pools = openPools([engine])
    const early = earlyTasks()
    const { cpuProfileOf } = await loadInspection()
    return await cpuProfileOf(pools, { ...options, ...early, cpu: true, signal: signal ?? null })
  } catch (problem) {
    return rejectCall(problem, entry)
  }
}

/** The recording starts with the call, so it collects the tasks that start while the code is loaded. */
function earlyTasks(): { startedAt: number; early(): readonly TaskMessage[] } {
  const channel = getBuiltinModule('node:diagnostics_channel').channel('tracing:lido.task:start')
  const tasks: TaskMessage[] = []
  const onStart = (task: unknown) => {
    tasks.push(task as TaskMessage)
  }
  channel.subscribe(onStart)
  return {
    startedAt: realClock.now(),
    early() {
      channel.unsubscribe(onStart)
      return tasks
    },
  }
}

const NEEDS_SIGNAL =
  "A trace with 'seconds: Infinity' never ends without a 'signal'. Pass a signal, or a number of seconds."
const NO_POOLS =
  'The first argument of Pool.trace() must be an array of pools that this copy of lido made, as in Pool.trace([images, texts]).'

function openPools(engines: readonly (Engine | undefined)[]): Engine[] {
  if (engines.length === 0) throw new InvalidTaskError('pools', NO_POOLS)
  return engines.map(engine => {
    if (engine === undefined) throw new InvalidTaskError('pools', NO_POOLS)
    if (engine.state === 'closed') throw new PoolClosedError('closed')
    return engine
  })
}
