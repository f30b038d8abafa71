// The messages of a running task to its caller: calls of the caller's functions, progress, and the chunks of a stream.
import { NotCloneableError, TaskCancelledError } from '../../shared/errors/pool-errors.js'
import { serializeError } from '../../shared/errors/serialize-error.js'
import { refusedPath } from '../../shared/errors/uncloneable-path.js'
import { outgoing } from '../../shared/messages/outgoing.js'
import type { CallBody, StreamBody } from '../../shared/messages/task-body.js'
import { AsyncContext } from '../../shared/platform/async-context.js'
import { shorten } from '../../shared/platform/shorten.js'
import type { Exchange, TaskChannel, Within } from '../task/exchange.js'

/** A function of the caller, which runs in the caller's async context. */
type CallerFunction = (args: unknown[], within: Within) => unknown
type Functions = ReadonlyMap<string, CallerFunction>

/** For calls without functions: each call of the handler rejects. */
export const noFunctions: Exchange = exchangeOf(new Map())

/** @param given the option `functions` */
export function withFunctions(given: Record<string, (...args: any[]) => unknown>): Exchange {
  const context = new AsyncContext('lido.functions')
  const functions = Object.entries(given).map(([name, member]): [string, CallerFunction] => [
    name,
    (args, within) => context.run(() => within(() => member.apply(given, args))),
  ])
  return exchangeOf(new Map(functions))
}

function exchangeOf(functions: Functions): Exchange {
  return channel => body => {
    if (body.kind === 'call') void answerCall(channel, body, functions)
  }
}

async function answerCall(channel: TaskChannel, call: CallBody, functions: Functions): Promise<void> {
  const { callId } = call
  const answer = await channel.wait(within => callFunction(call, functions, within))
  try {
    if ('error' in answer) return channel.post({ kind: 'call-answer', callId, ...answer })
    const { value, transferList } = outgoing(answer.value)
    channel.post({ kind: 'call-answer', callId, value }, transferList)
  } catch (failure) {
    const { value } = answer as { value: unknown }
    const path = refusedPath(failure, value, 'value').replace(/^value/, 'result')
    const error = serializeError(new NotCloneableError(path, failure))
    channel.post({ kind: 'call-answer', callId, error })
  }
}

async function callFunction({ name, args }: CallBody, functions: Functions, within: Within) {
  try {
    const called = functions.get(name)
    if (called === undefined) throw noFunction(name, functions)
    return { value: await called(args, within) }
  } catch (thrown) {
    return { error: serializeError(thrown) }
  }
}

function noFunction(name: string, functions: Functions): TypeError {
  const given = functions.size === 0 ? 'none' : [...functions.keys()].map(key => `'${key}'`).join(', ')
  return new TypeError(
    `The handler called '${shorten(name)}', and the caller gave no function of that name. Given: ${given}. Add it to the option 'functions' of the call.`,
  )
}

/** @param onProgress if it throws, the task is cancelled */
export function withProgress(exchange: Exchange, onProgress: (value: unknown) => void): Exchange {
  return channel => {
    const others = exchange(channel)
    return body => {
      if (body.kind !== 'progress') return others(body)
      try {
        onProgress(body.value)
      } catch (thrown) {
        channel.cancel(new TaskCancelledError(thrown, 'its onProgress function threw'))
      }
    }
  }
}

/** The caller's end of a stream. */
export interface StreamEnd {
  onMessage(body: StreamBody): void
}

/** @param open called when the handler has returned its stream, or reads one */
export function withStream(exchange: Exchange, open: (channel: TaskChannel) => StreamEnd): Exchange {
  return channel => {
    const others = exchange(channel)
    let end: StreamEnd | null = null
    return body => {
      if (body.kind === 'progress' || body.kind === 'call') others(body)
      else if (body.kind === 'opened') end = open(channel)
      else end?.onMessage(body)
    }
  }
}
