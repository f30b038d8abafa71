// Runs a programme from its first event to the pool's end, and says what went wrong.
import './machine.js'
import { freeMemory } from '../../src/testing/interrupted-atomics.js'
import { freeChannels } from './channel.js'
import { comeToEnd, comeToRest } from './ends.js'
import { drawProgramme, type Programme } from './programme.js'
import { World } from './world.js'

export { drawProgramme }

export interface Finding {
  wrong: string | null
  /** Empty unless it was asked for. */
  trace: string[]
  calls: number
}

export async function simulate(programme: Programme, isTraced = false): Promise<Finding> {
  // Most errors are what was to happen, and a trace of the stack is what they cost.
  Error.stackTraceLimit = isTraced ? 10 : 0
  const world = new World(programme, isTraced)
  const onRejection = (reason: unknown) =>
    world.fail(`nobody handles a rejection: ${reason instanceof Error ? reason.stack : reason}`)
  process.on('unhandledRejection', onRejection)
  process.on('uncaughtException', onRejection)
  try {
    await world.play()
    if (world.wrong === null) await comeToRest(world)
    if (world.wrong === null) await comeToEnd(world, programme.end)
  } finally {
    process.off('unhandledRejection', onRejection)
    process.off('uncaughtException', onRejection)
  }
  freeMemory()
  freeChannels()
  return { wrong: world.wrong, trace: world.trace ?? [], calls: world.calls.length }
}
