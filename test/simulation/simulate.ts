// Runs a programme from its first event to the end of the pool, and returns the problem.
import './machine.js'
import { freeMemory } from '../../src/testing/interrupted-atomics.js'
import { freeChannels } from './channel.js'
import { comeToEnd, comeToRest } from './ends.js'
import { drawProgramme, type Programme } from './programme.js'
import { World } from './world.js'

export { drawProgramme }

export interface Finding {
  wrong: string | null
  /** Empty unless the run is traced. */
  trace: string[]
  calls: number
}

export async function simulate(programme: Programme, isTraced = false): Promise<Finding> {
  // Most errors are expected, and their stacks would take most of the time.
  Error.stackTraceLimit = isTraced ? 10 : 0
  const world = new World(programme, isTraced)
  const onUnhandled = (reason: unknown) =>
    world.fail(
      `unhandled rejection or uncaught exception: ${reason instanceof Error ? reason.stack : reason}`,
    )
  process.on('unhandledRejection', onUnhandled)
  process.on('uncaughtException', onUnhandled)
  try {
    await world.play()
    if (world.wrong === null) await comeToRest(world)
    if (world.wrong === null) await comeToEnd(world, programme.end)
  } finally {
    process.off('unhandledRejection', onUnhandled)
    process.off('uncaughtException', onUnhandled)
  }
  freeMemory()
  freeChannels()
  return { wrong: world.wrong, trace: world.trace ?? [], calls: world.calls.length }
}
