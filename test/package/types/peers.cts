// lido/tinypool and lido/workerpool in a CommonJS module.
import { Tinypool } from 'lido/tinypool'
import * as workerpool from 'lido/workerpool'

const tinypool = new Tinypool({ filename: '/worker.js', maxThreads: 0.5 })
void tinypool.run({ a: 1 }).then(() => tinypool.destroy())
const pool: workerpool.Pool = workerpool.pool({ minWorkers: 'max' })
void pool
  .exec('add', [1, 2], { on: (payload: string) => payload, transfer: [] })
  .then(() => pool.terminate(true, 100))
