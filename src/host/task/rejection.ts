// A thenable that rejects. A promise that is resolved with it rejects a microtask later. So a task stores only the
// `resolve` function of its promise, which saves 64 bytes for each queued task.

/** The reason for a pinned task whose worker ended before it started the task. No caller sees it. */
export const NEVER_STARTED: unique symbol = Symbol('the worker ended before it started the task')

export class Rejection {
  /** The error of the item. */
  readonly reason: unknown

  constructor(reason: unknown) {
    this.reason = reason
  }

  /** Rejects the promise that is resolved with this object. */
  then(_resolve: unknown, reject: (reason: unknown) => void): void {
    reject(this.reason)
  }
}
