// `pool.api`: the functions of the handlers' module as methods. A call takes the function's own arguments and runs in a worker.
import { StreamReader } from './stream.js'

/** Calls the function of that name with these arguments. */
export type ApiCall = (...args: unknown[]) => Promise<unknown>

/**
 * Code that inspects objects reads these: `await` reads `then`, `JSON.stringify()` reads `toJSON`. They are never functions of the
 * module, and neither are the members of every object.
 */
const reserved = new Set(['then', 'toJSON', ...Object.getOwnPropertyNames(Object.prototype)])

/** @param makeCall called once for each name that the program uses */
export function createApi(makeCall: (name: string) => ApiCall): object {
  const calls = new Map<string, ApiCall>()
  return new Proxy(Object.freeze({}), {
    get(target, name, receiver) {
      if (typeof name === 'symbol' || reserved.has(name)) return Reflect.get(target, name, receiver)
      let call = calls.get(name)
      if (call === undefined) {
        call = makeCall(name)
        calls.set(name, call)
      }
      return call
    },
  })
}

/**
 * The promise of a call by `pool.api`. When the function is a generator, the promise resolves to a `PoolStream`, and the promise itself
 * can be iterated as well.
 */
export class ApiPromise<T> extends Promise<T> {
  /** `then()` gives a plain promise. */
  static override get [Symbol.species](): PromiseConstructor {
    return Promise
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<unknown, void, undefined> {
    const result = await this
    if (!(result instanceof StreamReader)) {
      throw new TypeError('The result of this function is no stream, so it cannot be iterated. Await it.')
    }
    yield* result
  }
}
