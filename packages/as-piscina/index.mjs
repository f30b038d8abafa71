// The same door for ES modules. The class comes through index.js, so that both kinds of module in one process hold
// one class.
import Piscina from './index.js'

export default Piscina
export const {
  ArrayTaskQueue,
  FixedQueue,
  isWorkerThread,
  move,
  queueOptionsSymbol,
  transferableSymbol,
  valueSymbol,
  version,
  workerData,
} = Piscina
export { Piscina }
