// piscina with its default settings: the one the bar is set by.
import { Piscina } from 'piscina'

export const packageName = 'piscina'

export function start({ workers, ...settings }) {
  const pool = new Piscina({
    filename: new URL('../handlers/echo.js', import.meta.url).href,
    minThreads: workers,
    maxThreads: workers,
    ...settings,
  })
  return { run: payload => pool.run(payload), stop: () => pool.destroy() }
}
