// Simulates a machine with four cores and a heap that fills by itself, so that a seed has the same meaning on every machine. An
// exit of the process becomes an exit of the simulated thread that runs now. Import this file before the code under test.
import fs from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import os from 'node:os'
import v8 from 'node:v8'

const CORES = 4
const GROWTH_BYTES = 2 ** 20

const { readFileSync } = fs
os.availableParallelism = () => CORES
fs.readFileSync = ((path: string, ...rest: never[]) =>
  String(path).startsWith('/sys/fs/cgroup/') ? '' : readFileSync(path, ...rest)) as never
/** The used part of V8's new space. Each read adds to it. */
export const newSpace = { usedBytes: 0 }
v8.getHeapSpaceStatistics = () => {
  newSpace.usedBytes += GROWTH_BYTES
  return [{ space_name: 'new_space', space_used_size: newSpace.usedBytes, space_available_size: 0 }] as never
}
syncBuiltinESMExports()

const exit = process.exit.bind(process)

/** The simulated thread that runs now. */
export interface Played {
  exit(exitCode: number): never
}

export const stage: { played: Played | null } = { played: null }

process.exit = ((exitCode?: number): never =>
  stage.played === null ? exit(exitCode) : stage.played.exit(exitCode ?? 0)) as never
