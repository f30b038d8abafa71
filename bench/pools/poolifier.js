// poolifier with its default settings, which are its fastest: no queue, tasks go to the worker at once.
import { fileURLToPath } from 'node:url'
import { FixedThreadPool } from 'poolifier'

export const packageName = 'poolifier'

export function start({ workers }) {
  const pool = new FixedThreadPool(
    workers,
    fileURLToPath(new URL('../handlers/poolifier.js', import.meta.url)),
  )
  return { run: payload => pool.execute(payload), stop: () => pool.destroy() }
}
