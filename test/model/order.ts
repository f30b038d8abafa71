// Turns the steps of an order into text.
import * as words from '../../src/shared/lane/layout.js'
import { readState } from '../../src/shared/lane/ticket.js'
import type { Event, Operation } from './operation.js'
import type { World } from './world.js'

export interface Step {
  thread: number
  operation: Operation | { kind: 'die' }
  /** The value that was read, or the number of the event. */
  found: number
}

const laneWords = { TAIL: words.TAIL, HEAD: words.HEAD, HOST: words.HOST }
const workerWords = {
  REST: words.REST,
  HELD: words.HELD,
  MAY_SPIN: words.MAY_SPIN,
  SENT: words.SENT,
  WRITTEN: words.WRITTEN,
  READ: words.READ,
}
const ticketWords = {
  STATE: words.STATE,
  TASK_ID: words.TASK_ID,
  HANDLER_ID: words.HANDLER_ID,
  FLAGS: words.FLAGS,
  FROM: words.FROM,
  TO: words.TO,
  INT: words.INT,
  STARTED_AT: words.STARTED_AT,
}

export function describeStep(world: World, { thread, operation, found }: Step): string {
  return `${(thread === 0 ? 'host' : `worker ${thread}`).padEnd(9)} ${describe(world, operation, found)}`
}

function describe(world: World, operation: Step['operation'], found: number): string {
  switch (operation.kind) {
    case 'load':
    case 'read': {
      const { name, say } = nameOf(world, operation.cell)
      return `${operation.kind}s ${name}: ${say(found)}`
    }
    case 'store':
    case 'write': {
      const { name, say } = nameOf(world, operation.cell)
      return `${operation.kind}s ${name}: ${say(operation.value)}`
    }
    case 'replace': {
      const { name, say } = nameOf(world, operation.cell)
      const { expected, value } = operation
      return `${found === 1 ? 'moves' : 'cannot move'} ${name} from ${say(expected)} to ${say(value)}`
    }
    case 'post':
      return `posts ${JSON.stringify(operation.message)} to ${operation.to === 0 ? 'the host' : `worker ${operation.to}`}`
    case 'note':
      return `-- ${JSON.stringify(operation.note)}`
    case 'start':
      return `starts worker ${operation.worker}`
    case 'kill':
      return `kills worker ${operation.worker}`
    case 'next':
      return describeEvent(world.event(found), operation.own)
    case 'end':
      return 'exits'
    case 'die':
      return 'dies'
    case 'failed':
      return `throws ${operation.error instanceof Error ? operation.error.stack : operation.error}`
  }
}

function describeEvent(event: Event, own: string[]): string {
  if (event.kind === 'own') return `· ${own[event.index]}`
  if (event.kind === 'exit') return `· learns that worker ${event.worker} has exited`
  return `· gets ${JSON.stringify(event.message)}${event.from === 0 ? '' : ` from worker ${event.from}`}`
}

function nameOf(world: World, cell: number): { name: string; say: (value: number) => string } {
  const { memory, index } = world.cells[cell]!
  const plain = String
  if (memory > 0)
    return { name: `${keyOf(workerWords, index) ?? `ring[${index}]`} of worker ${memory}`, say: plain }
  const known = keyOf(laneWords, index)
  if (known !== undefined) return { name: known, say: plain }
  const layout = words.laneIn(world.lane)
  if (index < layout.ticketsFrom)
    return { name: `the ticket at place ${index - layout.positionsFrom}`, say: plain }
  const ticket = Math.floor(
    (index - layout.ticketsFrom) / (words.ticketAt(layout, 1) - words.ticketAt(layout, 0)),
  )
  const word = keyOf(ticketWords, index - words.ticketAt(layout, ticket)) ?? '?'
  return { name: `${word} of ticket ${ticket}`, say: word === 'STATE' ? sayState : plain }
}

function keyOf(table: Record<string, number>, index: number): string | undefined {
  return Object.keys(table).find(key => table[key] === index)
}

function sayState(value: number): string {
  const { phase, owner } = readState(value)
  if (phase === 'free') return phase
  if (phase === 'offered') return `offered at ${owner}`
  return phase === 'addressed' ? `addressed by message ${owner}` : `${phase} by ${owner}`
}
