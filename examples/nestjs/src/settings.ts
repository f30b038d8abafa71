// Keeps what the program is told by its environment.

const ways = ['alone', 'worker', 'piscina', 'lido'] as const
export const settingsToken = Symbol('settings')

export interface Settings {
  /** Where estimates are made: on the server's own thread, on one started for each, in a pool of piscina's or lido's. */
  way: (typeof ways)[number]
  /** How many processes answer; each sizes its pool for its part of the cores. */
  processes: number
}

export function readSettings({ PI_WAY = 'lido', PI_PROCESSES = '1' }: NodeJS.ProcessEnv): Settings {
  const way = ways.find(name => name === PI_WAY)
  if (way === undefined) throw new RangeError(`PI_WAY is '${PI_WAY}' and must be one of ${ways.join(', ')}.`)
  return { way, processes: Number(PI_PROCESSES) }
}
