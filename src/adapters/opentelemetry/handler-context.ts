// The context in which a handler runs. It holds the span of the handler, and starts it when somebody asks for it: a library that starts a
// span below it, a logger, or a request that carries it on. So a short handler without any of these needs no span.
import { type Context, type Span, trace } from '@opentelemetry/api'

/** The key of the span in a context, which the API does not export. */
const spanKey = findSpanKey()

function findSpanKey(): symbol {
  let found: symbol | undefined
  const probe = {
    getValue(key: symbol) {
      found = key
    },
  }
  trace.getSpan(probe as unknown as Context)
  return found!
}

/** Gives the span of a context when it is read. */
export interface SpanSource {
  readonly current: Span | undefined
}

export class HandlerContext implements Context {
  readonly #base: Context
  readonly #source: SpanSource

  /** @param base the context of the caller */
  constructor(base: Context, source: SpanSource) {
    this.#base = base
    this.#source = source
  }

  getValue(key: symbol): unknown {
    return key === spanKey ? this.#source.current : this.#base.getValue(key)
  }

  setValue(key: symbol, value: unknown): Context {
    const changed = this.#base.setValue(key, value)
    return key === spanKey ? changed : new HandlerContext(changed, this.#source)
  }

  deleteValue(key: symbol): Context {
    const changed = this.#base.deleteValue(key)
    return key === spanKey ? changed : new HandlerContext(changed, this.#source)
  }
}
