// The settings of the program, from its environment.

const ways = ['alone', 'worker', 'piscina', 'lido'] as const
export const settingsToken = Symbol('settings')

export interface Settings {
  /** Where estimates run: on the server's own thread, in a worker for each request, in piscina, or in lido. */
  way: (typeof ways)[number]
  /** Number of processes. Each process sizes its pool for its part of the cores. */
  processes: number
}

export function readSettings({ PI_WAY = 'lido', PI_PROCESSES = '1' }: NodeJS.ProcessEnv): Settings {
  const way = ways.find(name => name === PI_WAY)
  if (way === undefined) throw new RangeError(`PI_WAY is '${PI_WAY}' and must be one of ${ways.join(', ')}.`)
  return { way, processes: Number(PI_PROCESSES) }
}
