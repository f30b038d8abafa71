// Entry point `lido/opentelemetry`: the instrumentation of OpenTelemetry for pools and handlers.
export {}
