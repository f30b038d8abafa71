// The diagnostics channels of lido. Subscribers find them by their names: see `api/channels.ts` for their messages.
import type { Channel, TracingChannel } from 'node:diagnostics_channel'
import { getBuiltinModule } from './node-modules.js'

const diagnostics = getBuiltinModule('node:diagnostics_channel')

/** A tracing channel. A runtime without tracing channels has no subscribers. */
export class TraceChannel<Message extends object> {
  readonly #channel: TracingChannel<unknown, Message> | null

  constructor(name: string) {
    this.#channel = diagnostics.tracingChannel?.<unknown, Message>(name) ?? null
  }

  /** True when somebody listens to any event. Asked for each task. */
  get hasSubscribers(): boolean {
    if (this.#channel === null) return false
    const { start, end, asyncStart, asyncEnd, error } = this.#channel
    return (
      start.hasSubscribers ||
      asyncEnd.hasSubscribers ||
      asyncStart.hasSubscribers ||
      end.hasSubscribers ||
      error.hasSubscribers
    )
  }

  /** Publishes `start`, and calls the function with the message, in the stores that are bound to the event. */
  start<T>(message: Message, call: (message: Message) => T): T {
    const { start } = this.#channel!
    // `runStores()` takes several times as long.
    if (!bindsNothing(start)) return start.runStores(message, () => call(message))
    start.publish(message)
    return call(message)
  }

  end(message: Message): void {
    this.#channel!.end.publish(message)
  }

  fail(message: Message): void {
    this.#channel!.error.publish(message)
  }

  /** Publishes `error` if the call failed, and `asyncStart`. */
  settle(message: Message, hasFailed: boolean): void {
    const { error, asyncStart } = this.#channel!
    if (hasFailed) error.publish(message)
    asyncStart.publish(message)
  }

  asyncEnd(message: Message): void {
    this.#channel!.asyncEnd.publish(message)
  }
}

/** False also where the runtime does not tell. */
function bindsNothing(channel: object): boolean {
  return (channel as { _stores?: ReadonlyMap<unknown, unknown> })._stores?.size === 0
}

/** Publishes a message that is made only for subscribers. */
export class NoticeChannel<Message extends object> {
  readonly #channel: Channel<unknown, Message>

  constructor(name: string) {
    this.#channel = diagnostics.channel(name) as Channel<unknown, Message>
  }

  publish(make: () => Message): void {
    if (this.#channel.hasSubscribers) this.#channel.publish(make())
  }
}
