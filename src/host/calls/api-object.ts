// An object with a method for each function of a module. A method is made at its first use.

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
