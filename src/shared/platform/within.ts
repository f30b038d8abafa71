// A promise with a limit of time.
import type { Clock, Timer } from './make-clock.js'

/**
 * Settles as the promise does. When the time is over first, settles as `onLate` does. What the promise stands for goes on then.
 * @param limitMs `Infinity`: no limit
 * @param keepsAlive the timer keeps the process alive
 */
export async function within<T, Late>(
  clock: Pick<Clock, 'after'>,
  limitMs: number,
  promise: PromiseLike<T>,
  onLate: () => Late,
  keepsAlive = true,
): Promise<T | Late> {
  if (limitMs === Number.POSITIVE_INFINITY) return await promise
  let timer!: Timer
  const late = new Promise<Late>((resolve, reject) => {
    timer = clock.after(
      limitMs,
      () => {
        try {
          resolve(onLate())
        } catch (error) {
          reject(error)
        }
      },
      keepsAlive,
    )
  })
  try {
    return await Promise.race([promise, late])
  } finally {
    timer.cancel()
  }
}
