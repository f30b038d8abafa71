// What a pool loads only when somebody looks into it: traces, profiles, and the socket of `npx lido trace` and `npx lido top`.
export { cpuProfileOf, traceOf } from './host/inspection/record.js'
export { TraceRecorder } from './host/inspection/trace.js'
