// A module of handlers that registers the instrumentation itself.
import './instrumentation.js'

export * from '../handlers/traced.js'
