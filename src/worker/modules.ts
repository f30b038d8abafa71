// The modules that this worker has loaded, and what they want done before it ends. Workers on one thread share their modules:
// there the last that has loaded one takes it down.
import type { Handler } from '../shared/messages/handler.js'
import { findHandler, findTeardown, type HandlerFunction, loadFile } from './handler-loader.js'

type Teardown = () => unknown

/** How many workers of this thread hold a file's teardown. */
const holders = new Map<string, number>()

export class Modules {
  readonly #isThreadsOwn: boolean
  readonly #onTeardown: () => void
  readonly #teardowns = new Map<string, Teardown | null>()
  #isOver = false

  /**
   * @param isThreadsOwn this worker has its thread, and so its modules, to itself
   * @param onTeardown a module that exports a teardown was loaded, and no function of it called yet
   */
  constructor(isThreadsOwn: boolean, onTeardown: () => void) {
    this.#isThreadsOwn = isThreadsOwn
    this.#onTeardown = onTeardown
  }

  /** The function, or `null` when the file has none of that name. Rejects with what the file threw. */
  async load({ filename, name }: Handler): Promise<HandlerFunction | null> {
    const namespace = await loadFile(filename, this.#isThreadsOwn)
    if (!this.#isOver && !this.#teardowns.has(filename)) this.#note(filename, findTeardown(namespace))
    return findHandler(namespace, name)
  }

  /** The worker ends: what is to be called for that. What is loaded from now on is no longer its. */
  takeDown(): Teardown[] {
    this.#isOver = true
    const due: Teardown[] = []
    for (const [filename, teardown] of this.#teardowns) {
      if (teardown === null) continue
      const left = holders.get(filename)! - 1
      if (left > 0) holders.set(filename, left)
      else {
        holders.delete(filename)
        due.push(teardown)
      }
    }
    this.#teardowns.clear()
    return due
  }

  #note(filename: string, teardown: Teardown | null): void {
    this.#teardowns.set(filename, teardown)
    if (teardown === null) return
    holders.set(filename, (holders.get(filename) ?? 0) + 1)
    this.#onTeardown()
  }
}
