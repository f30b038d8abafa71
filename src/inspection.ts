// What a pool loads only when somebody looks into it: traces, profiles, and the socket of `npx lido trace` and `npx lido top`.
export { openInspection, recordProgram } from './host/inspection/program.js'
export { cpuProfileOf, traceOf } from './host/inspection/record.js'
export { checkFolder, inspectablePids, isAlive, socketFolder, socketPath } from './host/inspection/sockets.js'
export { TraceRecorder } from './host/inspection/trace.js'
