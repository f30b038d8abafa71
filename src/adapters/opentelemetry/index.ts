// Entry point `lido/opentelemetry`: the instrumentation of OpenTelemetry for pools and handlers.
export { LidoInstrumentation, type LidoInstrumentationConfig } from './instrumentation.js'
