// lido with its default settings.
import { Pool } from 'lido'

export const packageName = 'lido'

export function start({ workers, spin = true }) {
  const pool = new Pool({
    filename: new URL('../handlers/echo.js', import.meta.url),
    minThreads: workers,
    maxThreads: workers,
    spin,
  })
  return { run: payload => pool.run(payload), stop: () => pool.close() }
}
