// lido/opentelemetry in an ES module.
import { registerInstrumentations } from '@opentelemetry/instrumentation'
import { LidoInstrumentation, type LidoInstrumentationConfig } from 'lido/opentelemetry'

const config: LidoInstrumentationConfig = { minRunMs: 1, waitSpan: true }
registerInstrumentations({ instrumentations: [new LidoInstrumentation(config)] })
// @ts-expect-error no such option
new LidoInstrumentation({ minRun: 1 })
