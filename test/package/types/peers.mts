// lido/tinypool and lido/workerpool in an ES module.
import Tinypool, { type Options, type TinypoolChannel, type workerId } from 'lido/tinypool'
import workerpool, { type WorkerPoolOptions, Promise as WorkerpoolPromise, worker } from 'lido/workerpool'
import { isTrue, type Same } from './checks.mjs'

const options: Options = {
  filename: new URL('file:///worker.js'),
  runtime: 'child_process',
  minThreads: 1,
  isolateWorkers: true,
}
const channel: TinypoolChannel = {
  onMessage: send => send('hello'),
  postMessage: (message: string) => message,
}
const tinypool = new Tinypool(options)
const answer: Promise<number> = tinypool.run('task', { channel, name: 'work', transferList: [] })
isTrue<Same<typeof workerId, number>>()
// @ts-expect-error no such runtime
new Tinypool({ runtime: 'thread' })
void tinypool.recycleWorkers({ runtime: 'worker_threads' })
for (const { runtime, threadId } of tinypool.threads) console.log(runtime, threadId)

const poolOptions: WorkerPoolOptions = {
  workerType: 'process',
  onCreateWorker: ({ forkOpts }) => ({ forkOpts: { ...forkOpts, env: {} } }),
  onTerminateWorker: ({ script }) => console.log(script),
}
const pool = workerpool.pool('/script.js', poolOptions)
const sum = pool.exec((a: number, b: number) => a + b, [1, 2])
isTrue<Same<typeof sum, WorkerpoolPromise<number>>>()
sum
  .timeout(10)
  .always(value => value)
  .finally(() => {})
const methods = await pool.proxy<{ add(a: number, b: number): number }>()
const other = methods.add(1, 2).cancel()
// @ts-expect-error numbers
methods.add('1', 2)
// @ts-expect-error no such type
workerpool.pool({ workerType: 'fork' })
worker({ add: (a: number, b: number) => a + b }, { onTerminate: async () => {} })
console.log(await answer, await other, new WorkerpoolPromise.CancellationError().message)
