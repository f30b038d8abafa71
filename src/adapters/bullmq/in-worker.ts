// Workers load this file. It calls a handler with what its job carries, and gives it the job as `context.job` or, in the place of
// BullMQ's sandbox, as its first argument.
import { context, type TaskJob } from '../../worker.js'
import { type Carrier, runCarried, setTaskJob } from '../../worker-kit.js'

/** The payload of the task of a job. */
export type JobOrder = HandlerOrder | SandboxOrder

export interface HandlerOrder {
  job: Pick<TaskJob, 'id' | 'name' | 'attempt' | 'parent'> & {
    /** As JSON, which only a handler that reads them parses. */
    options: string
  }
  /** One payload, or the arguments. */
  input: unknown
  isArgs: boolean
  /** Values of the caller's context whose stores the program of the host did not register. */
  carried: Carrier | undefined
}

export interface SandboxOrder {
  /** The fields of a BullMQ job. */
  sandboxJob: Record<string, unknown>
  token: string
  carried: Carrier | undefined
}

type Handler = (...args: unknown[]) => unknown

/**
 * The methods of a job that a sandboxed processor may call; they run on the host. Source: the child processor of BullMQ 6.7, and
 * further methods of its class `Job` that need nothing of the host's memory.
 */
export const JOB_METHODS = [
  'updateProgress',
  'updateData',
  'log',
  'clearLogs',
  'extendLock',
  'moveToDelayed',
  'moveToWait',
  'moveToWaitingChildren',
  'getChildrenValues',
  'getIgnoredChildrenFailures',
  'getDependencies',
  'getDependenciesCount',
] as const

/** The name under which the host offers a method of the job. */
export function methodName(method: string): string {
  return `job.${method}`
}

export function wrap(handler: Handler): Handler {
  return order => {
    if ('sandboxJob' in (order as JobOrder)) {
      const { sandboxJob, token, carried } = order as SandboxOrder
      return inContext(carried, () => handler(withMethods(sandboxJob), token, context.signal))
    }
    const { job, input, isArgs, carried } = order as HandlerOrder
    setTaskJob({
      ...job,
      data: input,
      get options() {
        return JSON.parse(job.options)
      },
      log: line => context.call(methodName('log'), String(line)),
      children: () => context.call(methodName('getChildrenValues')),
    })
    return inContext(carried, () => (isArgs ? handler(...(input as unknown[])) : handler(input)))
  }
}

function inContext(carried: Carrier | undefined, call: () => unknown): unknown {
  return carried === undefined ? call() : runCarried(carried, call)
}

function withMethods(fields: Record<string, unknown>): Record<string, unknown> {
  const job: Record<string, unknown> = { ...fields }
  for (const method of JOB_METHODS) {
    job[method] = async (...args: unknown[]) => {
      const result = await context.call(methodName(method), ...args)
      // As BullMQ's own job does.
      if (method === 'updateProgress') job.progress = args[0]
      if (method === 'updateData') job.data = args[0]
      return result
    }
  }
  return job
}
