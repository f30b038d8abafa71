import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { GroupOptions } from '../../api/pool-options.js'
import { realClock } from '../../shared/platform/clock.js'
import { makeTask, seededRandom, type TaskTraits } from '../../testing/stand-ins.js'
import type { Task } from '../task/task.js'
import { GroupQueue } from './group-queue.js'

const NONE = Number.POSITIVE_INFINITY

/** A queue, workers that take its tasks, and a clock that the test sets. */
class Bench {
  now = 0
  readonly queue: GroupQueue
  #lastId = 0

  constructor(options: GroupOptions = {}, agingMs = NONE) {
    this.queue = new GroupQueue(options, agingMs, true)
    this.queue.clock = { ...realClock, now: () => this.now }
  }

  push(group: string | undefined, count = 1, traits: TaskTraits = {}): Task[] {
    return Array.from({ length: count }, () => {
      const given = group === undefined ? traits : { ...traits, group }
      const task = makeTask(++this.#lastId, { createdAt: this.now, ...given })
      this.queue.push(task)
      return task
    })
  }

  shift(): Task {
    return this.queue.shift() as Task
  }

  /** The groups of the next tasks. */
  groups(count: number): string[] {
    return Array.from({ length: count }, () => this.shift().group ?? '')
  }

  answer(task: Task, runMs: number): void {
    task.assignedAt = this.now
    this.queue.onAnswered(task, runMs)
    this.queue.onOver(task)
  }

  /** All tasks of `group` take `runMs`. Returns the run time by group after `totalMs` of `slots` slots. */
  simulate(slots: number, totalMs: number, runMsOf: Record<string, number>): Record<string, number> {
    const ran: Record<string, number> = {}
    const running: { task: Task; end: number }[] = []
    while (this.now < totalMs) {
      while (running.length < slots) {
        const task = this.queue.shift() as Task | null
        if (task === null) break
        running.push({ task, end: this.now + runMsOf[task.group!]! })
      }
      running.sort((one, other) => one.end - other.end)
      const { task, end } = running.shift()!
      this.now = end
      const runMs = runMsOf[task.group!]!
      ran[task.group!] = (ran[task.group!] ?? 0) + runMs
      this.answer(task, runMs)
      this.push(task.group!)
    }
    return ran
  }
}

describe('shares', () => {
  for (const slots of [1, 2, 8])
    for (const [weights, expected] of [
      [{ short: 1, long: 1 }, 0.5],
      [{ short: 3, long: 1 }, 0.75],
      [{ short: 0.1, long: 0.3 }, 0.25],
    ] as const)
      test(`groups with waiting tasks get run time by weight (${slots} slots, ${JSON.stringify(weights)})`, () => {
        const bench = new Bench({ weight: group => weights[group as 'short' | 'long'] })
        bench.push('short', 100)
        bench.push('long', 100)
        const { short, long } = bench.simulate(slots, 20_000, { short: 1, long: 50 })
        const share = short! / (short! + long!)
        assert.ok(Math.abs(share - expected) < 0.02, String(share))
      })

  test('a group without waiting tasks gets no advantage later', () => {
    const bench = new Bench()
    bench.push('busy', 100)
    for (let run = 0; run < 50; run++) bench.answer(bench.shift(), 10)
    bench.push('late', 100)
    const { busy, late } = bench.simulate(1, 400, { busy: 10, late: 10 })
    assert.ok(Math.abs(busy! - late!) <= 10, `${busy} and ${late}`)
  })

  test('a group that ran alone pays nothing after all groups were idle', () => {
    const bench = new Bench()
    for (const task of bench.push('alone', 5)) {
      assert.equal(bench.shift(), task)
      bench.answer(task, 10_000)
    }
    bench.push('other', 2)
    bench.push('alone', 2)
    assert.deepEqual(bench.groups(2).sort(), ['alone', 'other'])
  })

  test('a group alone gets all slots', () => {
    const bench = new Bench()
    bench.push('only', 8)
    assert.deepEqual(bench.groups(8), new Array(8).fill('only'))
  })

  test('groups that came at the same time take turns in the order of arrival', () => {
    const bench = new Bench()
    const names = Array.from({ length: 50 }, (_, index) => `group ${index}`)
    for (const name of names) bench.push(name)
    // The host looks at the next task and puts it back.
    for (let look = 0; look < 5; look++) bench.queue.unshift(bench.shift())
    assert.deepEqual(bench.groups(50), names)
  })

  test('tasks without a group form a group', () => {
    const bench = new Bench()
    bench.push('named', 10)
    bench.push(undefined, 2)
    assert.deepEqual(bench.groups(4).sort(), ['', '', 'named', 'named'])
  })

  test('within a group, the priority decides, and aging counts', () => {
    const bench = new Bench({}, 1000)
    const [patient] = bench.push('one', 1, { priority: -1 })
    bench.now = 5000
    const [early] = bench.push('one', 1, { priority: 5 })
    bench.now = 6500
    const [late] = bench.push('one', 1, { priority: 5 })
    assert.deepEqual([bench.shift(), bench.shift(), bench.shift()], [early, patient, late])
  })
})

describe('tasks that come back', () => {
  test('a new group goes before tasks that were posted ahead and came back', () => {
    for (const rest of [0, 20]) {
      const bench = new Bench()
      bench.push('big', 12 + rest)
      for (let run = 0; run < 2; run++) bench.answer(bench.shift(), 50)
      const ahead = Array.from({ length: 10 }, () => bench.shift())
      const [task] = bench.push('small')
      assert.equal(bench.shift(), task)
      bench.queue.unshift(task!)
      // As the pump does it: the new task leaves, the unclaimed tasks return, the new task is pushed again.
      bench.queue.remove(task!)
      for (const back of ahead.slice(2).reverse()) bench.queue.unshift(back)
      bench.queue.push(task!)
      assert.equal(bench.queue.size, 9 + rest)
      assert.equal(bench.shift(), task)
      assert.equal(bench.shift(), ahead[2])
    }
  })

  test('a task that came back costs nothing', () => {
    const bench = new Bench()
    bench.push('one', 50)
    bench.push('other', 50)
    for (let run = 0; run < 4; run++) bench.answer(bench.shift(), 10)
    for (let round = 0; round < 20; round++) {
      const ahead = Array.from({ length: 5 }, () => bench.shift())
      for (const task of ahead.reverse()) bench.queue.unshift(task)
    }
    assert.deepEqual(bench.groups(4).sort(), ['one', 'one', 'other', 'other'])
  })

  test('a task that comes back long after it left gives its group no more than one task', () => {
    const bench = new Bench()
    const [first, lost] = bench.push('unlucky', 2)
    assert.equal(bench.shift(), first)
    bench.answer(first!, 10)
    assert.equal(bench.shift(), lost)
    bench.push('busy', 100)
    for (let run = 0; run < 50; run++) bench.answer(bench.shift(), 10)
    bench.queue.unshift(lost!)
    bench.push('unlucky', 20)
    const next = bench.groups(6).filter(group => group === 'unlucky')
    assert.ok(next.length <= 4, String(next.length))
  })

  test('each run of a task is charged: an answered one, and one that ended without an answer', () => {
    const bench = new Bench()
    const [task] = bench.push('retried')
    bench.push('other', 10)
    assert.equal(bench.shift(), task)
    bench.answer(bench.shift(), 10)
    task!.assignedAt = bench.now
    bench.queue.onAnswered(task!, 30)
    bench.queue.unshift(task!)
    assert.equal(task!.assignedAt, null)
    const before = bench.groups(3)
    assert.deepEqual(before.slice(0, 2), ['other', 'other'])
    assert.ok(bench.queue.stats().some(({ group, share }) => group === 'retried' && share === 0.75))
    const again = bench.groups(2).includes('retried') || before.includes('retried')
    assert.ok(again)
    task!.assignedAt = bench.now
    bench.now += 50
    bench.queue.onOver(task!)
    const { share } = bench.queue.stats().find(({ group }) => group === 'retried')!
    assert.equal(share, 80 / 90)
  })
})

describe('limit', () => {
  test('a group at its limit is skipped, and its tasks are held', () => {
    const bench = new Bench({ limit: 2 })
    const tasks = bench.push('limited', 4)
    bench.push('other', 1)
    assert.deepEqual(bench.groups(3).sort(), ['limited', 'limited', 'other'])
    assert.deepEqual([bench.queue.size, bench.queue.held, bench.queue.shift()], [2, 2, null])
    assert.deepEqual(
      tasks.map(task => bench.queue.isHeld(task)),
      [false, false, true, true],
    )
    bench.answer(tasks[0]!, 5)
    assert.deepEqual([bench.queue.size, bench.queue.held], [2, 0])
    assert.equal(bench.shift(), tasks[2])
    assert.equal(bench.queue.held, 1)
  })

  test('a cancelled task counts until it is over', () => {
    const bench = new Bench({ limit: 1 })
    const [cancelled, next] = bench.push('one', 2)
    assert.equal(bench.shift(), cancelled)
    // The caller was rejected, and the handler runs on.
    cancelled!.state = 'settled'
    assert.equal(bench.queue.shift(), null)
    bench.queue.onOver(cancelled!)
    assert.equal(bench.shift(), next)
  })

  test('an answered task frees its place before its large result is decoded', () => {
    const bench = new Bench({ limit: 1 })
    const [first, next] = bench.push('one', 2)
    assert.equal(bench.shift(), first)
    first!.assignedAt = 0
    bench.queue.onAnswered(first!, 3)
    assert.equal(bench.shift(), next)
    bench.queue.onOver(first!)
    assert.equal(bench.queue.stats()[0]!.running, 1)
  })

  test('drain() returns all tasks, also held ones', () => {
    const bench = new Bench({ limit: 1 })
    const tasks = [...bench.push('one', 3), ...bench.push('two', 3)]
    const first = bench.shift()
    const drained: Task[] = []
    for (const task of bench.queue.drain()) {
      drained.push(task)
      bench.queue.onOver(task)
    }
    assert.deepEqual(
      [first, ...drained].map(({ id }) => id).sort(),
      tasks.map(({ id }) => id),
    )
    assert.deepEqual([bench.queue.size, bench.queue.held], [0, 0])
  })
})

describe('weight', () => {
  for (const [what, weight] of [
    ['0', () => 0],
    ['-1', () => -1],
    ['NaN', () => Number.NaN],
    ['Infinity', () => NONE],
    ["'2'", () => '2'],
    ['undefined', () => undefined],
  ] as const)
    test(`a weight of ${what} is refused, and the queue stays as it was`, () => {
      const bench = new Bench({ weight: weight as never })
      assert.throws(() => bench.push('bad'), { name: 'InvalidOptionError', option: 'groups.weight' })
      assert.deepEqual([bench.queue.size, bench.queue.shift()], [0, null])
    })

  test('the function gets each group that had no tasks, and no other', () => {
    const asked: string[] = []
    const bench = new Bench({ weight: group => asked.push(group) })
    bench.push('one', 3)
    bench.push(undefined, 2)
    for (let run = 0; run < 5; run++) bench.answer(bench.shift(), 1)
    bench.push('one', 2)
    assert.deepEqual(asked, ['one', '', 'one'])
  })

  test('an error that the function throws refuses only this task, also when it pushed other tasks', () => {
    let mustThrow = true
    const bench: Bench = new Bench({
      weight: () => {
        if (!mustThrow) return 1
        mustThrow = false
        bench.push('same')
        throw new Error('no plan')
      },
    })
    assert.throws(() => bench.push('same'), /no plan/)
    assert.equal(bench.queue.size, 1)
    assert.equal(bench.shift().group, 'same')
  })
})

describe('memory and order', () => {
  test('after a million groups, the queue remembers 10,000', () => {
    const { queue } = new Bench()
    const task = makeTask(1)
    const { terms } = task
    for (let index = 0; index < 1_000_000; index++) {
      task.terms = { ...terms, group: `tenant ${index}` }
      queue.push(task)
      assert.equal(queue.shift(), task)
      task.assignedAt = 0
      queue.onAnswered(task, 1)
      queue.onOver(task)
    }
    assert.equal(queue.groupCount, 10_000)
    assert.equal(queue.stats().length, 256)
  })

  test('100,000 groups with one task each leave the queue in the order of arrival', () => {
    const bench = new Bench()
    const tasks = Array.from({ length: 100_000 }, (_, index) => bench.push(`tenant ${index}`)[0]!)
    for (const task of tasks) {
      if (bench.shift() !== task) assert.fail(`task ${task.id} was overtaken`)
      bench.answer(task, 1)
    }
    assert.equal(bench.queue.groupCount, 10_000)
  })

  for (const seed of [1, 2, 3, Date.now() >>> 0])
    test(`random calls keep the counts, the limit and the order of each group (seed ${seed})`, () => {
      const random = seededRandom(seed)
      const bench = new Bench({ limit: 3, weight: group => 1 + group.length })
      const waiting = new Map<string, Task[]>()
      const out: Task[] = []
      const names = ['a', 'bb', 'ccc', 'dddd']
      const outOf = (group: string) => out.filter(task => task.group === group).length
      for (let step = 0; step < 5000; step++) {
        bench.now++
        const group = names[random(4)]!
        const line = waiting.get(group) ?? []
        waiting.set(group, line)
        const choice = random(9)
        if (choice < 3) line.push(...bench.push(group))
        else if (choice < 5) {
          const task = bench.queue.shift() as Task | null
          const startable = names.filter(name => (waiting.get(name)?.length ?? 0) > 0 && outOf(name) < 3)
          if (task === null) assert.deepEqual(startable, [])
          else {
            assert.ok(startable.includes(task.group!))
            assert.equal(waiting.get(task.group!)!.shift(), task)
            out.push(task)
          }
        } else if (choice === 5 && line.length > 0) {
          const [task] = line.splice(random(line.length), 1)
          bench.queue.remove(task!)
          bench.queue.onOver(task!)
        } else if (out.length > 0) {
          const [task] = out.splice(random(out.length), 1)
          task!.assignedAt = random(2) === 0 ? null : bench.now - 1
          if (choice === 6) {
            const own = waiting.get(task!.group!)!
            bench.queue.unshift(task!)
            own.push(task!)
            own.sort((one, other) => one.id - other.id)
          } else if (choice === 7) bench.queue.onOver(task!)
          else bench.answer(task!, random(20))
        }
        const lines = [...waiting].map(([name, tasks]) => ({ name, size: tasks.length }))
        assert.equal(
          bench.queue.size,
          lines.reduce((sum, { size }) => sum + size, 0),
        )
        const held = lines.reduce((sum, { name, size }) => sum + (outOf(name) < 3 ? 0 : size), 0)
        assert.equal(bench.queue.held, held)
      }
    })
})

test('stats() tells size, running, the wait and the share of each group, those with the most run time first', () => {
  const bench = new Bench()
  bench.push('small', 2)
  bench.push('big', 3)
  bench.push('new', 1)
  assert.ok(bench.queue.stats().every(({ waitP99Ms, share }) => waitP99Ms === null && share === null))
  const taken = Array.from({ length: 5 }, () => bench.shift())
  bench.now = 8
  for (const task of taken.filter(({ group }) => group !== 'new').slice(0, 3))
    bench.answer(task, task.group === 'big' ? 30 : 10)
  const stats = bench.queue.stats()
  assert.deepEqual(
    stats.map(({ group }) => group),
    ['big', 'small', 'new'],
  )
  assert.equal(
    stats.reduce((sum, { size, running }) => sum + size + running, 0),
    3,
  )
  assert.deepEqual([stats[0]!.waitP99Ms, stats[2]!.share], [8, null])
  assert.equal(stats[0]!.share! + stats[1]!.share!, 1)
  bench.now += 20_000
  assert.ok(bench.queue.stats().every(({ size, running, share }) => size + running > 0 && share !== 1))
})
