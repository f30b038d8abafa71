// A pool behind its adapter, as scenarios see it: every way in gives a `Call`.
import { Call } from './call.js'
import { Unsupported } from './verdicts.js'

export class PoolUnderTest {
  isDestroyed = false
  #features
  #pool

  constructor({ features, open }, options) {
    this.#features = features
    this.#pool = open(options)
  }

  /** The pool's own promise, with nothing between. */
  promise(name, payload, options = {}) {
    // Own options only: what a scenario does to prototypes is for the pool to meet, not for its adapter.
    return this.#pool.run(name, payload, { __proto__: null, ...options })
  }

  /** `isAbortable`: the call gets `abort()`, by the pool's own way to cancel. */
  run(name, payload, { isAbortable = false, ...options } = {}) {
    const label = `run('${String(name)}')`
    if (!isAbortable) return new Call(label, () => this.promise(name, payload, options))
    if (!this.#features.has('signal')) return this.#runCancellable(label, name, payload, options)
    const controller = new AbortController()
    const begin = () => this.promise(name, payload, { ...options, signal: controller.signal })
    return new Call(label, begin, reason => controller.abort(reason))
  }

  close() {
    return new Call('close()', () => this.#pool.close())
  }

  destroy() {
    this.isDestroyed = true
    return new Call('destroy()', () => this.#pool.destroy())
  }

  /** Calls with options that the pool cannot mean. */
  wrongCalls() {
    return this.#pool.wrongCalls().map((call, index) => new Call(`wrong call ${index + 1}`, call))
  }

  #runCancellable(label, name, payload, options) {
    if (!this.#features.has('cancel')) throw new Unsupported('it cannot cancel')
    let promise
    const begin = () => {
      promise = this.promise(name, payload, options)
      return promise
    }
    return new Call(label, begin, () => this.#pool.cancel(promise))
  }
}
