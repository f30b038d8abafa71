// One call of a pool, as a fact: pending, fulfilled or rejected, and whether the call itself threw. Never an unhandled
// rejection of its own.

export class Call {
  state = 'pending'
  value = undefined
  error = undefined
  hasThrown = false

  constructor(label, begin, abort = null) {
    this.label = label
    this.abort = abort
    let promise
    try {
      promise = begin()
    } catch (error) {
      this.hasThrown = true
      promise = Promise.reject(error)
    }
    this.done = Promise.resolve(promise).then(
      value => {
        this.value = value
        this.state = 'fulfilled'
      },
      error => {
        this.error = error
        this.state = 'rejected'
      },
    )
  }

  get isPending() {
    return this.state === 'pending'
  }
}
