import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import type { Handler } from '../shared/messages/handler.js'
import type { HandlerMeasure } from '../shared/messages/messages.js'
import type { Assignment } from './assignment.js'
import { realClock } from './clock.js'
import { Executor } from './executor.js'
import { Meter } from './meter.js'

/** A task that notes how it was answered. */
function someTask(handlerId = 1) {
  const answers: unknown[][] = []
  const task: Assignment = {
    handlerId,
    handler: null,
    payload: { of: handlerId },
    isCancelled: false,
    cancelReason: 'why',
    makeSignal: () => AbortSignal.abort(),
    markLoading: isLoading => answers.push(['loading', isLoading]),
    holdTime: () => () => answers.push(['resumed']),
    succeed: result => answers.push(['succeeded', result]),
    fail: (...failure) => answers.push(['failed', ...failure]),
  }
  return { task, answers }
}

function burn(milliseconds: number): void {
  const end = performance.now() + milliseconds
  const coreFrom = realClock.onCore()
  // Where the runtime tells of it, on a core: a busy machine may take it away.
  const isOnCore = () => coreFrom === null || realClock.onCore()! - coreFrom >= milliseconds
  while (performance.now() < end || !isOnCore());
}

test('a task that is measured is the same to its handler, and is answered the same', () => {
  const meter = new Meter(() => {})
  const { task, answers } = someTask()
  const measured = meter.measure(task)
  assert.deepEqual(
    [measured.handlerId, measured.handler, measured.payload, measured.isCancelled, measured.cancelReason],
    [1, null, task.payload, false, 'why'],
  )
  assert.equal(measured.makeSignal().aborted, true)
  measured.markLoading(true)
  measured.holdTime()()
  measured.succeed(7)
  const packed = { value: 'thrown' } as never
  meter.measure(task).fail('thrown', packed, 'here')
  assert.deepEqual(answers, [
    ['loading', true],
    ['resumed'],
    ['succeeded', 7],
    ['failed', 'thrown', packed, 'here'],
  ])
})

test('it tells of the first task at once, and then sums of many', () => {
  const told: HandlerMeasure[][] = []
  const meter = new Meter(handlers => told.push(handlers))
  const run = (handlerId: number) => {
    const measured = meter.measure(someTask(handlerId).task)
    burn(2)
    measured.succeed(null)
  }
  // Reading its payload is that task's alone.
  meter.readMs = 1e6
  run(1)
  assert.ok(told[0]![0]!.transferMs >= 1e6)
  assert.deepEqual(
    told.map(handlers => handlers.map(({ handlerId, tasks }) => [handlerId, tasks])),
    [[[1, 1]]],
  )
  const countOf = (handlers: HandlerMeasure[]) => handlers.reduce((total, { tasks }) => total + tasks, 0)
  let runs = 0
  // A core that was taken away for long makes a sum of one.
  while (countOf(told.at(-1)!) < 2) {
    assert.ok(runs < 1000)
    run(1 + (runs++ % 2))
  }
  const sums = told.at(-1)!
  assert.equal(countOf(told.flat()), 1 + runs)
  for (const { tasks, runMs, activeMs, cpuMs, transferMs } of sums) {
    assert.ok(runMs >= 2 * tasks, `${runMs} ms in ${tasks} tasks`)
    assert.equal(activeMs, runMs)
    if (realClock.onCore() === null) assert.equal(cpuMs, null)
    else assert.ok(cpuMs! >= tasks && cpuMs! <= runMs, `${cpuMs} of ${runMs} ms in ${tasks} tasks`)
    assert.ok(transferMs >= 0 && transferMs < 1e6)
  }
})

test('all time of a task is active until its handler has returned a promise, and then what the loop does not wait', async () => {
  const told: HandlerMeasure[] = []
  const measure = () => new Meter(handlers => told.push(...handlers)).measure(someTask().task)
  // A loop that has not begun to turn tells no time.
  await sleep(1)
  const atOnce = measure()
  burn(5)
  atOnce.succeed(null)
  const waiting = measure()
  burn(5)
  waiting.onPending!()
  await sleep(50)
  waiting.succeed(null)
  const [active, idle] = told
  assert.equal(active!.activeMs, active!.runMs)
  assert.ok(idle!.activeMs >= 5, `${idle!.activeMs} ms`)
  assert.ok(idle!.activeMs < idle!.runMs, `${idle!.activeMs} of ${idle!.runMs} ms`)
})

test('reading the payload of a handler’s first task, which is not measured, is not the next one’s', async () => {
  const told: HandlerMeasure[] = []
  const hooks = {
    load: async () => () => null,
    onStale() {},
    onEnd() {},
    flush: () => undefined,
  }
  const executor = new Executor(hooks, false)
  const meter = new Meter(handlers => told.push(...handlers))
  executor.meter = meter
  const run = (handler: Handler | null) =>
    new Promise<unknown>(succeed => executor.run({ ...someTask().task, handler, succeed }))
  meter.readMs = 1e6
  await run({ filename: '', name: '' })
  await run(null)
  assert.ok(told[0]!.transferMs < 1e6, `${told[0]!.transferMs} ms`)
})

test('writing an answer takes until the worker goes on to what comes next, be it before the answer has returned', () => {
  const told: HandlerMeasure[] = []
  const meter = new Meter(handlers => told.push(...handlers))
  const run = (answer: () => void) => {
    const measured = meter.measure({ ...someTask().task, succeed: answer })
    burn(30)
    measured.succeed(null)
  }
  run(() => {
    meter.onGoingOn(realClock.now())
    burn(50)
  })
  assert.ok(told[0]!.transferMs < 50, `${told[0]!.transferMs} ms`)
  run(() => burn(5))
  assert.ok(told[1]!.transferMs >= 5, `${told[1]!.transferMs} ms`)
})

test('tasks of a millisecond are measured one and all, tiny ones one in 256', () => {
  const meter = new Meter(() => {})
  const measureDue = (taskCount: number, run: () => void) => {
    let count = 0
    for (let task = 0; task < taskCount; task++) {
      const wasNextDue = meter.isNextDue(1)
      const isDue = meter.isDue(1)
      assert.equal(wasNextDue, isDue)
      if (!isDue) continue
      count++
      const measured = meter.measure(someTask().task)
      run()
      measured.succeed(null)
    }
    return count
  }
  assert.equal(
    measureDue(5, () => burn(1.5)),
    5,
  )
  // A thread that loses its core, or a busy machine, makes a tiny task a long one: of such more are measured.
  let least = Number.POSITIVE_INFINITY
  for (let round = 0; round < 1000 && least > 10; round++)
    least = Math.min(
      least,
      measureDue(2560, () => {}),
    )
  assert.equal(least, 10)
})

test('tasks of a millisecond are measured one and all beside tiny ones of another handler', () => {
  const meter = new Meter(() => {})
  const run = (handlerId: number, milliseconds: number) => {
    if (!meter.isDue(handlerId)) return 0
    const measured = meter.measure(someTask(handlerId).task)
    burn(milliseconds)
    measured.succeed(null)
    return 1
  }
  let count = 0
  for (let round = 0; round < 20; round++) {
    run(1, 0)
    assert.equal(meter.isNextDue(2), true)
    count += run(2, 1.5)
  }
  assert.equal(count, 20)
})

test('of names that lead to no function nothing is kept, however many come from outside', () => {
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc') as () => void
  const heldBytes = () => {
    collect()
    return process.memoryUsage().heapUsed
  }
  const meter = new Meter(() => {})
  const before = heldBytes()
  for (let handlerId = 0; handlerId < 200_000; handlerId++) assert.equal(meter.isNextDue(handlerId), true)
  const grownBytes = heldBytes() - before
  assert.ok(grownBytes < 4 * 2 ** 20, `${grownBytes} bytes`)
  assert.equal(meter.isDue(1), true)
})
