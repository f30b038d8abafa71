// The progress of long work: a bar on a terminal, one line for each step elsewhere.
const periodMs = 100
const width = 24

export class Progress {
  #output
  #steps
  #stepMs
  #step = 0
  #startedAt = 0
  #timer

  /** @param stepMs how long a step takes; the bar shows the time */
  constructor(steps, stepMs, output = process.stderr) {
    this.#steps = steps
    this.#stepMs = stepMs
    this.#output = output
  }

  addStep() {
    this.#steps++
  }

  /** Starts the next step. */
  next(label) {
    clearInterval(this.#timer)
    this.#step++
    this.#startedAt = performance.now()
    if (!this.#output.isTTY) {
      this.#output.write(`${this.#step} of ${this.#steps}: ${label}\n`)
      return
    }
    const draw = () => this.#output.write(`\r\x1b[K${this.#line(label)}`)
    draw()
    this.#timer = setInterval(draw, periodMs)
    this.#timer.unref()
  }

  /** Removes the bar. */
  end() {
    clearInterval(this.#timer)
    if (this.#output.isTTY) this.#output.write('\r\x1b[K')
  }

  #line(label) {
    // A step that takes longer than expected does not fill the part of the next one.
    const ofStep = Math.min(1, (performance.now() - this.#startedAt) / this.#stepMs)
    return `${barOf((this.#step - 1 + ofStep) / this.#steps)} ${this.#step} of ${this.#steps}  ${label}`
  }
}

function barOf(share) {
  return '█'.repeat(Math.floor(share * width)).padEnd(width, '·')
}
