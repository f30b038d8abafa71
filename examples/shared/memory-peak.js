// Keeps the highest memory use seen in this process: the whole process (RSS) and, of this thread, its heap and
// its array buffers. It looks on a timer; code that blocks the timer calls sample() itself.
const mebibyte = 2 ** 20
const everyMs = 20

export class MemoryPeak {
  #rss = 0
  #heap = 0
  #arrayBuffers = 0
  #timer

  start() {
    this.sample()
    this.#timer = setInterval(() => this.sample(), everyMs)
  }

  sample() {
    const { rss, heapUsed, arrayBuffers } = process.memoryUsage()
    this.#rss = Math.max(this.#rss, rss)
    this.#heap = Math.max(this.#heap, heapUsed)
    this.#arrayBuffers = Math.max(this.#arrayBuffers, arrayBuffers)
  }

  stop() {
    this.sample()
    clearInterval(this.#timer)
    return {
      rssMib: this.#rss / mebibyte,
      heapMib: this.#heap / mebibyte,
      arrayBuffersMib: this.#arrayBuffers / mebibyte,
    }
  }
}
