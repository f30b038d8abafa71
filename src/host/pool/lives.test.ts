// The lives of tasks, workers and pools: every pair of states, legal and illegal, walked.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { moveTask, taskMoves } from '../task/task-life.js'
import { moveWorker, workerMoves } from '../workers/worker-life.js'
import { movePool, poolMoves } from './pool-life.js'

interface Life {
  table: Record<string, readonly string[]>
  move: (subject: { state: never }, next: never) => void
  first: string
  last: string
  /** Written out once more, so that a change of the table is a change here. */
  legal: string[]
}

const lives: Record<string, Life> = {
  task: {
    table: taskMoves,
    move: moveTask,
    first: 'queued',
    last: 'settled',
    legal: [
      'queued → assigned',
      'queued → settled',
      'assigned → queued',
      'assigned → arriving',
      'assigned → settled',
      'assigned → failed',
      'failed → queued',
      'failed → settled',
      'arriving → settled',
    ],
  },
  worker: {
    table: workerMoves,
    move: moveWorker,
    first: 'spawning',
    last: 'exited',
    legal: [
      'spawning → ready',
      'spawning → draining',
      'spawning → exited',
      'ready → draining',
      'ready → exited',
      'draining → exited',
    ],
  },
  pool: {
    table: poolMoves,
    move: movePool,
    first: 'open',
    last: 'closed',
    legal: ['open → closing', 'closing → closed'],
  },
}

for (const [name, { table, move, first, last, legal }] of Object.entries(lives)) {
  describe(`the life of a ${name}`, () => {
    const states = Object.keys(table)
    for (const from of states) {
      for (const to of states) {
        const isLegal = legal.includes(`${from} → ${to}`)
        test(`${from} → ${to} is ${isLegal ? 'a move' : 'refused, and changes nothing'}`, () => {
          const subject = { state: from as never }
          if (isLegal) {
            move(subject, to as never)
            assert.equal(subject.state, to)
          } else {
            assert.throws(() => move(subject, to as never), {
              message: new RegExp(`from ${from} to .* not to ${to}`),
            })
            assert.equal(subject.state, from)
          }
        })
      }
    }

    test(`the end, ${last}, is reached from everywhere and left to nowhere`, () => {
      assert.deepEqual(table[last], [])
      const reaches = (state: string, seen: string[]): boolean =>
        state === last || table[state]!.some(next => !seen.includes(next) && reaches(next, [...seen, next]))
      for (const state of states) assert.ok(reaches(state, [state]), `${state} never ends`)
    })

    test(`every state is reached from ${first}`, () => {
      const reached = new Set([first])
      for (const state of reached) for (const next of table[state]!) reached.add(next)
      assert.deepEqual([...reached].sort(), [...states].sort())
    })
  })
}
