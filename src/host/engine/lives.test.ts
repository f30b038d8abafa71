// Checks the state tables of tasks, workers, pools and the restart circuit: every pair of states, allowed or refused.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { moveState, type StateTable } from '../../shared/platform/state-machine.js'
import { taskStates } from '../task/task-life.js'
import { circuitStates } from '../workers/restart-policy.js'
import { workerLives } from '../workers/worker-life.js'
import { poolStates } from './pool-life.js'

interface Machine {
  table: StateTable<string>
  first: string
  /** `null`: the machine has no last state. */
  last: string | null
  /** A copy of the table: a change of the table must be repeated here. */
  allowed: string[]
}

const machines: Record<string, Machine> = {
  task: {
    table: taskStates,
    first: 'queued',
    last: 'settled',
    allowed: [
      'queued → assigned',
      'queued → settled',
      'assigned → queued',
      'assigned → decoding',
      'assigned → settled',
      'assigned → failed',
      'failed → queued',
      'failed → settled',
      'decoding → settled',
    ],
  },
  worker: {
    table: workerLives,
    first: 'starting',
    last: 'exited',
    allowed: [
      'starting → ready',
      'starting → leavingEarly',
      'starting → leftEarly',
      'starting → stopping',
      'starting → killed',
      'starting → exited',
      'ready → leaving',
      'ready → left',
      'ready → stopping',
      'ready → killed',
      'ready → exited',
      'leavingEarly → leftEarly',
      'leavingEarly → leaving',
      'leavingEarly → stopping',
      'leavingEarly → killed',
      'leavingEarly → exited',
      'leftEarly → left',
      'leftEarly → stopping',
      'leftEarly → killed',
      'leftEarly → exited',
      'leaving → left',
      'leaving → stopping',
      'leaving → killed',
      'leaving → exited',
      'left → stopping',
      'left → killed',
      'left → exited',
      'stopping → cutOff',
      'stopping → killed',
      'stopping → exited',
      'cutOff → killed',
      'cutOff → exited',
      'killed → exited',
    ],
  },
  pool: {
    table: poolStates,
    first: 'open',
    last: 'closed',
    allowed: ['open → closing', 'closing → closed'],
  },
  circuit: {
    table: circuitStates,
    first: 'closed',
    last: null,
    allowed: ['closed → open', 'open → halfOpen', 'open → closed', 'halfOpen → closed', 'halfOpen → open'],
  },
}

for (const [noun, { table, first, last, allowed }] of Object.entries(machines)) {
  describe(`the states of a ${noun}`, () => {
    const states = Object.keys(table)
    for (const from of states) {
      for (const to of states) {
        const isAllowed = allowed.includes(`${from} → ${to}`)
        test(`the move ${from} → ${to} of a ${noun} is ${isAllowed ? 'allowed' : 'refused and changes nothing'}`, () => {
          const subject = { state: from }
          const move = () => moveState(table, subject, to, noun)
          if (isAllowed) move()
          else assert.throws(move, { message: new RegExp(`a ${noun} moves from ${from} to .* not to ${to}`) })
          assert.equal(subject.state, isAllowed ? to : from)
        })
      }
    }

    test(`every state of a ${noun} can be reached from ${first}`, () => {
      assert.deepEqual([...reachedFrom(table, first)].sort(), [...states].sort())
    })

    if (last === null) return
    test(`every state of a ${noun} leads to ${last}, and ${last} has no successor`, () => {
      assert.deepEqual(table[last], [])
      for (const state of states) assert.ok(reachedFrom(table, state).has(last), `${state} never ends`)
    })
  })
}

function reachedFrom(table: StateTable<string>, first: string): Set<string> {
  const reached = new Set([first])
  for (const state of reached) for (const next of table[state]!) reached.add(next)
  return reached
}
