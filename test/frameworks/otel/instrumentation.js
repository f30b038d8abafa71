// Registers OpenTelemetry in the thread that loads this file. Each span becomes a line of the file in LIDO_SPANS.
import { appendFileSync } from 'node:fs'
import { registerInstrumentations } from '@opentelemetry/instrumentation'
import { NodeTracerProvider } from '@opentelemetry/sdk-trace-node'
import { LidoInstrumentation } from 'lido/opentelemetry'

const write = line => appendFileSync(process.env.LIDO_SPANS, `${JSON.stringify(line)}\n`)
const fileProcessor = {
  onStart() {},
  onEnd(span) {
    const { name, kind, attributes, status, events, parentSpanContext } = span
    const { traceId, spanId } = span.spanContext()
    const [start, end] = [span.startTime, span.endTime].map(([seconds, nanos]) => seconds * 1e3 + nanos / 1e6)
    const exceptions = events.map(event => event.attributes['exception.message'])
    const parent = parentSpanContext?.spanId
    write({ name, kind, traceId, id: spanId, parent, attributes, status, exceptions, start, end })
  },
  forceFlush: async () => write({ name: 'flush' }),
  shutdown: async () => {},
}
export const provider = new NodeTracerProvider({ spanProcessors: [fileProcessor] })
provider.register()
export const instrumentation = new LidoInstrumentation(JSON.parse(process.env.LIDO_OTEL ?? '{}'))
registerInstrumentations({ instrumentations: [instrumentation] })
