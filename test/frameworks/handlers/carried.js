// Handlers that tell which request they work for. Each module of a framework gives them its store.
import { Pool } from 'lido'
import { context } from 'lido/worker'

/**
 * @param readId reads the id of the request from the store
 * @param log a logger of lido/pino
 * @param file the handlers' module
 */
export function handlersOf(readId, log, file) {
  return {
    /** Tells the id at the start and after an await, and logs it beside the id that the caller expects. */
    async read(expected) {
      const first = readId()
      await null
      log.info({ expected }, 'reads')
      await new Promise(resolve => setTimeout(resolve, 1))
      log.warn({ expected }, 'has read')
      return [first, readId()]
    },
    readAtOnce: () => readId(),
    async *chunks() {
      yield readId()
      await null
      yield readId()
    },
    async *pairs(source) {
      for await (const chunk of source) yield [chunk, readId()]
    },
    async callBack() {
      const seen = await context.call('tellId')
      return [seen, readId()]
    },
    /** Ends the first worker that runs it. */
    dieOnce(words) {
      if (Atomics.add(words, 0, 1) === 0) process.exit(1)
      return readId()
    },
    /** Calls a pool of this worker. */
    async nest() {
      const pool = new Pool({ filename: file, backend: 'inline' })
      const seen = await pool.run(null, { name: 'readAtOnce' })
      await pool.close()
      return [readId(), seen]
    },
    later: expected =>
      new Promise(resolve => {
        setImmediate(() => {
          log.info({ expected }, 'later')
          resolve(readId())
        })
      }),
  }
}
