// OpenTelemetry for a contestant of bench/otel.js and for its workers, which load this file by --import. The spans go nowhere.
import { registerInstrumentations } from '@opentelemetry/instrumentation'
import {
  AlwaysOffSampler,
  AlwaysOnSampler,
  BatchSpanProcessor,
  NodeTracerProvider,
} from '@opentelemetry/sdk-trace-node'
import { LidoInstrumentation } from 'lido/opentelemetry'

const exporter = {
  export: (_spans, done) => done({ code: 0 }),
  forceFlush: async () => {},
  shutdown: async () => {},
}

export function setUp(way) {
  const sampler = way === 'none sampled' ? new AlwaysOffSampler() : new AlwaysOnSampler()
  const provider = new NodeTracerProvider({ sampler, spanProcessors: [new BatchSpanProcessor(exporter)] })
  provider.register()
  const minRunMs = way === 'minRunMs 10' ? 10 : 0
  registerInstrumentations({ instrumentations: [new LidoInstrumentation({ minRunMs })] })
}

if (process.env.LIDO_BENCH_WAY !== undefined) setUp(process.env.LIDO_BENCH_WAY)
