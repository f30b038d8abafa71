// pool.trace() and pool.profile(): what a program records is what the viewers show.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { setImmediate as turn } from 'node:timers/promises'
import { pathToFileURL } from 'node:url'
import { InvalidTaskError, Pool, PoolClosedError } from 'lido'
import { openFolder } from '../helpers/folder.js'
import { handler } from '../helpers/handler.js'
import { test } from '../helpers/pool-test.js'
import { runProgram } from '../helpers/program.js'
import { readTrace, taskSlices } from '../helpers/read-trace.js'
import { rejection } from '../helpers/rejection.js'

const filename = handler('costs.js')
const TASKS = 30

/** Starts a recording. `end()` ends it and resolves to the trace. */
function record(pool) {
  const stop = new AbortController()
  const trace = pool.trace({ seconds: 60, signal: stop.signal })
  return {
    end() {
      stop.abort()
      return trace
    },
  }
}

function group(slices) {
  const groups = new Map()
  for (const slice of slices) groups.set(slice.tid, [...(groups.get(slice.tid) ?? []), slice])
  return groups
}

for (const [title, options] of Object.entries({ threads: {}, processes: { backend: 'process' } })) {
  test(`a trace of ${title} has all threads with their calls, and one slice for each task`, async open => {
    const pool = open({ filename, minWorkers: 2, maxWorkers: 2, label: 'images', ...options })
    await pool.ready()
    const recording = record(pool)
    await Promise.all(Array.from({ length: TASKS }, () => pool.run(50, { name: 'spin' })))
    const trace = await recording.end()
    const { events, about, threads, groups } = await readTrace(trace)
    assert.deepEqual(about.notes, [])
    assert.equal(about.tasks, TASKS)
    const [host, ...workers] = threads
    assert.equal(host.name, 'CrRendererMain')
    assert.equal(workers.length, 2)
    for (const { name, calls } of workers) {
      assert.match(name, /^images worker \d/)
      assert.ok(calls.length > 0, name)
    }
    // The group of tracks in Chrome DevTools.
    assert.equal(groups.length, 1)
    const { queue, ...tracks } = groups[0].tracks
    assert.equal(groups[0].name, 'lido: images')
    assert.equal(queue.length, TASKS)
    assert.deepEqual(Object.keys(tracks).sort(), ['worker 1', 'worker 2'])
    const runs = Object.values(tracks).flat()
    assert.equal(runs.length, TASKS)
    for (const { userDetail, ts } of runs) {
      const wait = queue.find(entry => entry.userDetail.taskId === userDetail.taskId)
      assert.ok(Math.abs(wait.ts + wait.dur - ts) <= 1000, 'the wait ends where the run starts')
    }
    // The threads, for the other viewers.
    const slices = taskSlices(events)
    assert.equal(new Set(slices.map(({ args }) => args.taskId)).size, TASKS)
    assert.equal(slices.length, TASKS)
    for (const { name, args, bind_id: flow } of slices) {
      assert.equal(name, 'spin')
      assert.equal(args.outcome, 'fulfilled')
      assert.equal(args.attempt, 1)
      assert.ok(events.some(({ ph, bind_id: id, flow_out: isOut }) => ph === 'b' && id === flow && isOut))
    }
  })
}

test('a trace ends on time while a worker computes, and has its calls', async open => {
  const pool = open({ filename, minWorkers: 1, maxWorkers: 1 })
  await pool.ready()
  let hasEnded = false
  const tracing = pool.trace({ seconds: 2 })
  const onEnd = () => {
    hasEnded = true
  }
  pool.run(20_000, { name: 'spin' }).then(onEnd, onEnd)
  const trace = await tracing
  assert.equal(hasEnded, false)
  const { events, about, threads } = await readTrace(trace)
  assert.deepEqual(about.notes, [])
  assert.ok(threads[1].calls.length > 0)
  const [slice, ...others] = taskSlices(events)
  assert.equal(slice.args.outcome, 'open')
  assert.deepEqual(others, [])
})

test('the trace of a pool whose worker was killed has all tasks, and the new worker', async open => {
  const pool = open({ filename, minWorkers: 2, maxWorkers: 2, label: 'images' })
  await pool.ready()
  const recording = record(pool)
  const spin = ms => pool.run(ms, { name: 'spin' })
  // The parts of a profile are fetched once a second.
  await Promise.all([spin(2500), spin(2500)])
  const tasks = [spin(500), spin(500)]
  const ends = Promise.allSettled(tasks)
  const [victim] = pool.workers
  while (victim.isIdle) await turn()
  await victim.terminate()
  const outcomes = (await ends).map(({ status }) => status)
  assert.deepEqual(outcomes.sort(), ['fulfilled', 'rejected'])
  await Promise.all([spin(300), spin(300)])
  const { events, about, threads } = await readTrace(await recording.end())
  assert.deepEqual(about.notes, [
    "Worker 1 of pool 'images' ended early, so up to a second of its profile is missing.",
  ])
  assert.equal(taskSlices(events).length, 6)
  const names = threads.map(({ name }) => name.replace(/ \(.*/, '')).sort()
  assert.deepEqual(names, ['CrRendererMain', 'images worker 1', 'images worker 2', 'images worker 3'])
  for (const { name, calls } of threads.slice(1)) assert.ok(calls.length > 0, name)
})

test('the slice of a task that is cancelled while it runs is on the track of its worker', async open => {
  const pool = open({ filename, minWorkers: 1, maxWorkers: 1, label: 'images' })
  await pool.ready()
  const recording = record(pool)
  const cancelled = new AbortController()
  const { signal } = cancelled
  // The second task still waits when the first one has started.
  const onProgress = () => cancelled.abort()
  await Promise.allSettled([
    pool.run(0, { name: 'reportAndSpin', signal, onProgress }),
    pool.run(60_000, { name: 'spin', signal }),
  ])
  const { events, groups } = await readTrace(await recording.end())
  const slices = taskSlices(events).map(({ args }) => [args.taskId, args.outcome])
  assert.deepEqual(slices, [[1, 'cancelled']])
  assert.equal(groups[0].tracks['worker 1'].length, 1)
})

test('a worker that stops as planned leaves its whole profile', async open => {
  const pool = open({ filename, maxWorkers: 1, maxTasksPerWorker: 1 })
  const recording = record(pool)
  for (let i = 0; i < 3; i++) await pool.run(500, { name: 'spin' })
  const { about, threads } = await readTrace(await recording.end())
  assert.deepEqual(about.notes, [])
  const workers = threads.filter(({ name }) => /worker [123] /.test(name))
  assert.equal(workers.filter(({ calls }) => calls.length > 0).length, 3)
})

test('slices of tasks that run at the same time in one worker are on tracks of their own', async open => {
  const pool = open({ filename, maxWorkers: 1, concurrentTasksPerWorker: 4 })
  const recording = record(pool)
  await Promise.all(Array.from({ length: 40 }, (_, i) => pool.run(10 + (i % 7) * 3, { name: 'wait' })))
  const { events } = await readTrace(await recording.end())
  const byTrack = group(taskSlices(events))
  assert.equal(taskSlices(events).length, 40)
  assert.ok(byTrack.size >= 2)
  for (const slices of byTrack.values()) {
    slices.sort((a, b) => a.ts - b.ts)
    for (let i = 1; i < slices.length; i++) assert.ok(slices[i].ts >= slices[i - 1].ts + slices[i - 1].dur)
  }
})

test('a profile gives each handler its share of the time, also when its code is warm', async (open, t) => {
  const pool = open({ filename, minWorkers: 2, maxWorkers: 2, performanceWarnings: false })
  const rounds = 20_000
  const load = async () => {
    await Promise.all([pool.run(rounds, { name: 'seven' }), pool.run(rounds, { name: 'three' })])
  }
  for (let i = 0; i < 500; i++) await load()
  const recording = record(pool)
  const stop = new AbortController()
  const profiling = pool.profile({ seconds: 60, signal: stop.signal })
  for (let i = 0; i < 2000; i++) await load()
  stop.abort()
  const [profile, trace] = [await profiling, await recording.end()]
  const shares = samplesByHandler(profile)
  const times = { seven: 0, three: 0 }
  for (const { name, dur } of taskSlices(trace.toJSON().traceEvents)) times[name] += dur
  // The share is 70 % of the work. While another program has the core, a task takes time, but the profile gets no samples of it.
  const ofSeven = ({ seven, three }) => seven / (seven + three)
  assert.ok(Math.abs(ofSeven(shares) - ofSeven(times)) < 0.1, JSON.stringify({ shares, times }))
  assert.ok(shares.host > 0)
  assert.equal(profile.samples.length, profile.timeDeltas.length)
  const file = `${openFolder(t).path}/pool.cpuprofile`
  await profile.save(file)
  assert.deepEqual(Object.keys(JSON.parse(readFileSync(file, 'utf8'))).sort(), [
    ...['endTime', 'nodes', 'samples', 'startTime', 'timeDeltas'],
  ])
})

function samplesByHandler({ nodes, samples }) {
  const parents = new Map(nodes.flatMap(({ id, children }) => children.map(child => [child, id])))
  const byId = new Map(nodes.map(node => [node.id, node]))
  const shares = {}
  for (let id of samples) {
    while (parents.get(id) > 1) id = parents.get(id)
    const name = byId.get(id).callFrame.functionName
    shares[name] = (shares[name] ?? 0) + 1
  }
  return shares
}

test('a profile of inline workers gives the time of the host thread to the handlers', async open => {
  const pool = open({ filename, backend: 'inline' })
  const profiling = pool.profile({ seconds: 1 })
  await pool.run(600, { name: 'spin' })
  const { spin, host } = samplesByHandler(await profiling)
  assert.ok(spin > 0 && host > 0)
})

test('a trace may have several pools, and recordings of a pool may overlap', async (open, t) => {
  const pools = ['images', 'texts'].map(label => open({ filename, maxWorkers: 1, label }))
  const stop = new AbortController()
  const tracing = Pool.trace(pools, { seconds: Number.POSITIVE_INFINITY, signal: stop.signal, cpu: false })
  const other = record(pools[0])
  await Promise.all(pools.map(pool => pool.run(10, { name: 'wait' })))
  stop.abort()
  const [both, one] = await Promise.all([tracing, other.end()])
  const { groups } = await readTrace(both)
  assert.deepEqual(groups.map(({ name }) => name).sort(), ['lido: images', 'lido: texts'])
  assert.equal(one.toJSON().metadata.lido.tasks, 1)
  const file = `${openFolder(t).path}/trace.json`
  await both.save(pathToFileURL(file))
  assert.deepEqual(JSON.parse(readFileSync(file, 'utf8')), JSON.parse(JSON.stringify(both)))
})

test('a recording ends when its pool is closed or destroyed', async open => {
  for (const end of ['close', 'destroy']) {
    const pool = open({ filename, maxWorkers: 1 })
    const tracing = pool.trace({ seconds: 600 })
    const task = pool.run(100, { name: 'spin' }).catch(() => {})
    if (end === 'close') await pool.close()
    else await pool.destroy()
    const { tasks } = (await tracing).toJSON().metadata.lido
    assert.equal(tasks, 1)
    await task
    assert.ok((await rejection(pool.trace())) instanceof PoolClosedError)
  }
})

test('wrong options of recordings are refused', async open => {
  const pool = open({ filename, minWorkers: 0 })
  for (const [call, message] of [
    [
      () => pool.trace({ seconds: 0 }),
      "The option 'seconds' of trace() must be a number above 0 and at most 600, or Infinity; got 0.",
    ],
    [() => pool.trace({ duration: 5 }), "Unknown option 'duration' for trace(). Use 'seconds'."],
    [() => pool.trace(5), 'The options of trace() must be an object, as in { seconds: 5 }; got 5.'],
    [
      () => pool.trace({ seconds: Number.POSITIVE_INFINITY }),
      "A trace with 'seconds: Infinity' never ends without a 'signal'. Pass a signal, or a number of seconds.",
    ],
    [() => pool.profile({ cpu: true }), "Unknown option 'cpu' for profile(). Use one of seconds, signal."],
    [
      () => Pool.trace([{}]),
      'The first argument of Pool.trace() must be an array of pools that this copy of lido made, as in Pool.trace([images, texts]).',
    ],
  ]) {
    const problem = await rejection(call())
    assert.ok(problem instanceof InvalidTaskError)
    assert.equal(problem.message, message)
  }
})

test('a recording keeps the process of an idle pool alive', async () => {
  const { exitCode, output } = await runProgram(`
    const pool = new Pool({ filename: handler('costs.js'), minWorkers: 1, maxWorkers: 1 })
    const trace = await pool.trace({ seconds: 0.3 })
    console.log(trace.toJSON().metadata.lido.tasks)
  `)
  assert.equal(output, '0\n')
  assert.equal(exitCode, 0)
})
