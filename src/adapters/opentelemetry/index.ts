/**
 * The instrumentation of OpenTelemetry for pools and handlers.
 * @module
 * @see [lido/opentelemetry](https://OWNER.github.io/lido/guides/trace-requests.html)
 */

export { LidoInstrumentation, type LidoInstrumentationConfig } from './instrumentation.js'
