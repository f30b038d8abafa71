// `LidoInstrumentation`: the class for `registerInstrumentations()`. It has the interface of OpenTelemetry's instrumentations and needs
// only the API. Hosts and workers use the same class: each thread sees its own channels.

import { AsyncLocalStorage } from 'node:async_hooks'
import { type ChannelListener, channel, tracingChannel } from 'node:diagnostics_channel'
import {
  context,
  diag,
  type Meter,
  type MeterProvider,
  metrics,
  type Tracer,
  type TracerProvider,
  trace,
} from '@opentelemetry/api'
import { type HandlerMessage, InvalidOptionError, type TaskMessage } from '../../index.js'
import {
  boolean,
  mayHoldOptions,
  milliseconds,
  OptionErrors,
  OptionTable,
  type Resolved,
  type RulesFor,
} from '../../kit.js'
import { carry, onTeardown } from '../../worker.js'
import { HandlerSpans } from './handler-spans.js'
import { PoolMetrics } from './pool-metrics.js'
import { TaskSpans } from './task-spans.js'
import { headersOf } from './trace-headers.js'
import { VERSION } from './version.js'

/** The options of `new LidoInstrumentation()`. */
export interface LidoInstrumentationConfig {
  /**
   * Starts at once. Default `true`. With `false`, `enable()` or `registerInstrumentations()` starts it.
   * @see [lido/opentelemetry](https://OWNER.github.io/lido/reference/opentelemetry.html#options)
   */
  enabled?: boolean | undefined
  /**
   * A span `lido.handler NAME` in the worker. Default `true`. Without it, spans of libraries in a handler are below `lido.run NAME`.
   * @see [lido/opentelemetry](https://OWNER.github.io/lido/reference/opentelemetry.html#options)
   */
  handlerSpans?: boolean | undefined
  /**
   * A span `lido.wait NAME` for the time in the queue. Default `false`. `lido.task.wait_time` has the time in any case.
   * @see [lido/opentelemetry](https://OWNER.github.io/lido/reference/opentelemetry.html#options)
   */
  waitSpan?: boolean | undefined
  /**
   * Milliseconds. A handler that ends sooner has no span, unless it throws, or something in it uses the span: a library that starts a
   * span below it, or a request that carries it on. Default 0.
   * @see [lido/opentelemetry](https://OWNER.github.io/lido/reference/opentelemetry.html#options)
   */
  minRunMs?: number | undefined
}

const configRules = {
  enabled: boolean({ default: true }),
  handlerSpans: boolean({ default: true }),
  waitSpan: boolean({ default: false }),
  minRunMs: milliseconds(true, { default: 0 }),
} satisfies RulesFor<LidoInstrumentationConfig>

type Config = Resolved<typeof configRules>

const configTable = new OptionTable(configRules)
const errors = new OptionErrors('LidoInstrumentation', InvalidOptionError)
const NAME = 'lido/opentelemetry'
const CARRIED_NAME = 'opentelemetry'

/** What one instrumentation does while it is the active one of its thread. */
interface Activity {
  start(): void
  stop(): void
  capture(task: TaskMessage | undefined): unknown
  run<Result>(value: unknown, callback: () => Result): Result
}

/** The enabled instrumentations of this thread, of all copies of this package. Only the first one is active. */
interface Enabled {
  readonly list: Activity[]
  isCarried: boolean
}

const enabledKey = Symbol.for('lido.opentelemetry')
// On a class of Node, as all that the copies of lido share.
Reflect.defineProperty(AsyncLocalStorage, enabledKey, {
  value: { list: [], isCarried: false } satisfies Enabled,
})
const enabled = (AsyncLocalStorage as unknown as Record<symbol, Enabled>)[enabledKey]!

/**
 * Traces and measures the pools of a program. Register it in the program and in its workers, for example in one file that `--import`
 * loads: workers inherit the flag.
 *
 * ```ts
 * registerInstrumentations({ instrumentations: [new LidoInstrumentation()] })
 * ```
 */
export class LidoInstrumentation {
  /** The name of the instrumentation and of its tracer and meter. */
  readonly instrumentationName = NAME
  /** The version of lido. */
  readonly instrumentationVersion = VERSION
  #config: Config
  #tracerProvider: TracerProvider | null = null
  #meterProvider: MeterProvider | null = null
  readonly #taskSpans: TaskSpans
  readonly #handlerSpans: HandlerSpans
  readonly #metrics: PoolMetrics
  readonly #activity: Activity

  /** Throws `InvalidOptionError`. */
  constructor(config: LidoInstrumentationConfig = {}) {
    this.#config = readConfig(config)
    const tracer = tracerOf(trace)
    this.#taskSpans = new TaskSpans(tracer, this.#config)
    this.#handlerSpans = new HandlerSpans(tracer, this.#config)
    this.#metrics = new PoolMetrics(meterOf(metrics))
    this.#activity = this.#createActivity()
    if (this.#config.enabled) this.enable()
  }

  /**
   * Starts. A second instrumentation of the same thread waits until the first one is disabled, so that no span exists twice.
   * @see [lido/opentelemetry](https://OWNER.github.io/lido/reference/opentelemetry.html)
   */
  enable(): void {
    this.#config = { ...this.#config, enabled: true }
    const { list } = enabled
    if (list.includes(this.#activity)) return
    list.push(this.#activity)
    if (list.length === 1) this.#activity.start()
    else
      diag.warn(
        'lido: another LidoInstrumentation is enabled in this thread. This one waits until that one is disabled.',
      )
  }

  /**
   * Stops. Open spans are not ended.
   * @see [lido/opentelemetry](https://OWNER.github.io/lido/reference/opentelemetry.html)
   */
  disable(): void {
    this.#config = { ...this.#config, enabled: false }
    const { list } = enabled
    const index = list.indexOf(this.#activity)
    if (index < 0) return
    list.splice(index, 1)
    if (index > 0) return
    this.#activity.stop()
    list[0]?.start()
  }

  /**
   * `registerInstrumentations()` calls it.
   * @see [lido/opentelemetry](https://OWNER.github.io/lido/reference/opentelemetry.html)
   */
  setTracerProvider(provider: TracerProvider): void {
    this.#tracerProvider = provider
    const tracer = tracerOf(provider)
    this.#taskSpans.tracer = tracer
    this.#handlerSpans.tracer = tracer
  }

  /**
   * `registerInstrumentations()` calls it.
   * @see [lido/opentelemetry](https://OWNER.github.io/lido/reference/opentelemetry.html)
   */
  setMeterProvider(provider: MeterProvider): void {
    this.#meterProvider = provider
    this.#metrics.meter = meterOf(provider)
  }

  /**
   * The options with their defaults.
   * @see [lido/opentelemetry](https://OWNER.github.io/lido/reference/opentelemetry.html)
   */
  getConfig(): LidoInstrumentationConfig & { enabled: boolean } {
    return { ...this.#config }
  }

  /**
   * Replaces the options, for the tasks that come. Does not enable or disable. Throws `InvalidOptionError`.
   * @see [lido/opentelemetry](https://OWNER.github.io/lido/reference/opentelemetry.html)
   */
  setConfig(config: LidoInstrumentationConfig = {}): void {
    this.#config = { ...readConfig(config), enabled: this.#config.enabled }
    this.#taskSpans.settings = this.#config
    this.#handlerSpans.settings = this.#config
  }

  #createActivity(): Activity {
    const listeners = this.#listeners()
    let removeTeardown = () => {}
    return {
      start: () => {
        carryOnce()
        removeTeardown = onTeardown(() => this.#flush())
        for (const [name, listener] of listeners) channel(name).subscribe(listener)
        this.#metrics.start()
      },
      stop: () => {
        removeTeardown()
        for (const [name, listener] of listeners) channel(name).unsubscribe(listener)
        this.#metrics.stop()
      },
      capture: task => (task === undefined ? headersOf(context.active()) : this.#taskSpans.headersOf(task)),
      run: (value, callback) => this.#handlerSpans.run(value, callback),
    }
  }

  #listeners(): [name: string | symbol, listener: ChannelListener][] {
    const spans = this.#taskSpans
    const handlers = this.#handlerSpans
    const pools = this.#metrics
    const task = tracingChannel('lido.task')
    const handler = tracingChannel('lido.handler')
    return [
      [task.start.name, quietly<TaskMessage>(message => spans.onStart(message))],
      [
        task.asyncEnd.name,
        quietly<TaskMessage>(message => {
          spans.onSettled(message)
          pools.onSettled(message)
        }),
      ],
      [handler.start.name, quietly<HandlerMessage>(message => handlers.onStart(message))],
      [handler.error.name, quietly<HandlerMessage>(message => handlers.onError(message))],
      [handler.end.name, quietly<HandlerMessage>(message => handlers.onEnd(message))],
      [handler.asyncEnd.name, quietly<HandlerMessage>(message => handlers.onSettled(message))],
      ['lido.worker.exit', quietly(message => pools.onWorkerExit(message as never))],
    ]
  }

  /** Exporters send spans and metrics in batches. What a worker has not sent when it stops would be lost. */
  async #flush(): Promise<void> {
    const tracers = this.#tracerProvider ?? trace.getTracerProvider()
    const meters = this.#meterProvider ?? metrics.getMeterProvider()
    const flushed = await Promise.allSettled([flush(tracers), flush(meters)])
    for (const answer of flushed) {
      if (answer.status === 'rejected')
        diag.error('lido: a worker could not flush its spans or metrics.', answer.reason)
    }
  }
}

function readConfig(config: LidoInstrumentationConfig): Config {
  if (!mayHoldOptions(config)) errors.noObject(config, 'minRunMs: 1')
  return configTable.read(config, errors)
}

function tracerOf(provider: Pick<TracerProvider, 'getTracer'>): Tracer {
  return provider.getTracer(NAME, VERSION)
}

function meterOf(provider: Pick<MeterProvider, 'getMeter'>): Meter {
  return provider.getMeter(NAME, VERSION)
}

/** The API hides the provider of an SDK behind a proxy. */
async function flush(provider: object): Promise<void> {
  const { getDelegate } = provider as { getDelegate?: () => object }
  const real = getDelegate === undefined ? provider : getDelegate.call(provider)
  const { forceFlush } = real as { forceFlush?: () => Promise<void> }
  await forceFlush?.call(real)
}

/** A name cannot be registered twice, and cannot be removed. Without an active instrumentation, tasks carry nothing for it. */
function carryOnce(): void {
  if (enabled.isCarried) return
  enabled.isCarried = true
  carry<unknown>({
    name: CARRIED_NAME,
    capture: task => enabled.list[0]?.capture(task),
    run: (value, callback) => {
      const active = enabled.list[0]
      return active === undefined ? callback() : active.run(value, callback)
    },
  })
}

/** Node ends a program whose subscriber throws. A span processor of the program may throw. */
function quietly<Message = unknown>(listener: (message: Message) => void): ChannelListener {
  return message => {
    try {
      listener(message as Message)
    } catch (failure) {
      diag.error('lido: the instrumentation failed.', failure)
    }
  }
}
