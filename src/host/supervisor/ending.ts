// A worker whose end was asked for.
import type { Timer } from '../../shared/base/clock.js'

export class Ending {
  /** It ends by itself, after its teardown; else it is killed. */
  readonly isPlanned: boolean
  readonly ended: Promise<void>
  resolve!: () => void
  /** For one that does not end in time. */
  kill: Timer | null = null

  constructor(isPlanned: boolean) {
    this.isPlanned = isPlanned
    this.ended = new Promise(resolve => {
      this.resolve = resolve
    })
  }
}
