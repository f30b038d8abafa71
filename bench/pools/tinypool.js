// tinypool with its default settings.
import { Tinypool } from 'tinypool'

export const packageName = 'tinypool'

export function start({ workers }) {
  const pool = new Tinypool({
    filename: new URL('../handlers/echo.js', import.meta.url).href,
    minThreads: workers,
    maxThreads: workers,
  })
  return { run: payload => pool.run(payload), stop: () => pool.destroy() }
}
