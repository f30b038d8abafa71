// The door for handlers' modules: `import { move } from 'lido/worker'`.
export { move, transferableSymbol, valueSymbol } from '../shared/messages/move.js'
export { context, type Handler, type TaskContext } from './task-context.js'
export { isWorkerThread, workerData } from './worker-state.js'
