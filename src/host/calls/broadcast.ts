// `pool.broadcast()`: its options, the copy of its payload, and the results of all workers.
import type { BroadcastOptions } from '../../api/call-options.js'
import {
  InvalidTaskError,
  NotCloneableError,
  PoolClosedError,
  type PublicFunction,
} from '../../shared/errors/pool-errors.js'
import { refusalCause, refusedPath } from '../../shared/errors/uncloneable-path.js'
import { outgoing } from '../../shared/messages/outgoing.js'
import { HEAD_BYTES } from '../../shared/messages/pipe-frames.js'
import { packMessage } from '../../shared/messages/process-values.js'
import { unpackMessage } from '../../shared/messages/unpack-message.js'
import { boolean } from '../../shared/options/option-rules.js'
import {
  mayHoldOptions,
  OptionErrors,
  OptionTable,
  type RulesFor,
} from '../../shared/options/option-table.js'
import { structuredClone } from '../../shared/platform/node-modules.js'
import type { Engine } from '../engine/engine.js'
import type { CoreSettings } from '../options/settings.js'
import type { Call } from '../task/call.js'
import { NEVER_STARTED, Rejection } from '../task/rejection.js'
import { runTable } from './call-options.js'
import { termsOf } from './call-terms.js'
import { withCallerStack } from './caller-stack.js'
import { rejectCall } from './run.js'

export interface BroadcastCall extends Call {
  readonly alsoNew: boolean
}

const { name, filename, signal, timeout, deadline } = runTable.rules

export const broadcastTable = new OptionTable({
  name,
  filename,
  signal,
  timeout,
  deadline,
  alsoNew: boolean({ default: false }),
} satisfies RulesFor<BroadcastOptions>)

const errors = new OptionErrors('broadcast()', InvalidTaskError, {
  abortSignal: "Use 'signal'.",
  inherit: "Pass 'signal' and 'deadline' of the context.",
  exclusive: 'A broadcast runs in any free slot of each worker. Leave out this option.',
  onProgress: 'A broadcast does not report progress. Leave out this option.',
  priority: 'A broadcast is not queued with the tasks: each worker runs it next. Leave out this option.',
  queueOptions: 'A broadcast goes to every worker, without the queue. Leave out this option.',
  queueTimeout: "Use 'deadline' to limit the whole call.",
  retry: 'A broadcast runs once on each worker. Leave out this option.',
  transferList: 'Each worker needs its own copy of the payload. Leave out this option.',
})

/** Throws `InvalidTaskError` and `NotCloneableError`. */
export function resolveBroadcast(
  payload: unknown,
  given: BroadcastOptions | undefined,
  settings: CoreSettings,
): BroadcastCall {
  if (given !== undefined && !mayHoldOptions(given)) errors.noObject(given, 'alsoNew: true')
  const { alsoNew, ...options } = broadcastTable.read(given ?? {}, errors)
  const terms = termsOf(
    {
      ...options,
      queueTimeout: Number.POSITIVE_INFINITY,
      inherit: false,
      exclusive: false,
      transferList: [],
      priority: 0,
      queueOptions: undefined,
      retry: undefined,
      onProgress: undefined,
      functions: undefined,
      key: undefined,
      keyOrder: undefined,
      group: undefined,
    },
    settings,
  )
  const copy = copyOf(payload, settings.backend === 'process')
  return { payload: copy, terms: { ...terms, retry: null }, alsoNew }
}

/** A worker that starts later must get the payload of the time of the call, and its start must not fail because of it. */
function copyOf(payload: unknown, isForProcesses: boolean): unknown {
  try {
    const { value, transferList } = outgoing(payload)
    if (transferList.length > 0) {
      throw new InvalidTaskError(
        'payload',
        'The payload of broadcast() is moved, but each worker needs its own copy. Pass the value without move().',
      )
    }
    if (!isForProcesses) return structuredClone(value)
    const message = unpackMessage(packMessage({ payload: value }).subarray(HEAD_BYTES))
    return (message as { payload: unknown }).payload
  } catch (failure) {
    if (failure instanceof InvalidTaskError) throw failure
    const path = refusedPath(failure, payload, 'payload')
    throw new NotCloneableError(path, refusalCause(failure, payload))
  }
}

/**
 * Calls `send` for each target. Resolves when all have settled, to their results in order. A target that never started has none.
 * Rejects then with the first error.
 */
export function gatherResults<Target>(
  targets: readonly Target[],
  send: (target: Target, settle: (answer: unknown) => void) => void,
): Promise<unknown[]> {
  return new Promise((resolve, reject) => {
    const answers: unknown[] = targets.map(() => NEVER_STARTED)
    let failure: Rejection | null = null
    let left = targets.length
    const settle = (index: number, answer: unknown) => {
      if (!(answer instanceof Rejection)) answers[index] = answer
      else if (answer.reason !== NEVER_STARTED) failure ??= answer
      if (--left > 0) return
      if (failure === null) resolve(answers.filter(result => result !== NEVER_STARTED))
      else reject(failure.reason)
    }
    if (left === 0) resolve([])
    for (const [index, target] of targets.entries()) send(target, answer => settle(index, answer))
  })
}

/** Runs one task on each worker. Rejects as `pool.broadcast()` says. */
export function broadcast(
  engine: Engine,
  payload: unknown,
  options: BroadcastOptions | undefined,
  entry: PublicFunction,
): Promise<unknown[]> {
  let answer: Promise<unknown[]>
  try {
    if (engine.state !== 'open') throw new PoolClosedError('closed')
    const call = engine.encode(() => resolveBroadcast(payload, options, engine.settings))
    engine.check(call.terms)
    if (call.alsoNew) engine.callOnNewWorkers(call)
    answer = gatherResults(engine.keptWorkerIds, (workerId, settle) => {
      engine.submitPart({ payload: call.payload, terms: { ...call.terms, workerId } }, settle)
    })
  } catch (problem) {
    return rejectCall(problem, entry)
  }
  return engine.settings.callerStack ? withCallerStack(answer, entry) : answer
}
