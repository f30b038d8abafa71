// The conformance suite in Bun and Deno, from the installed tarball. Each test runs in its own process. A test that the runtime cannot
// pass has a reason here, and docs/guides/set-ups.md lists it.
import assert from 'node:assert/strict'
import { cpSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { deviations } from '../conformance/deviations.js'
import { promises } from '../conformance/promises/all.js'
import { command, install, output, root } from './project.js'
import { heavyRow } from './row.js'

const syntaxError = 'a file that does not parse rejects the call, with the SyntaxError as cause'
const heapLimit = 'a task that reaches the heap limit rejects with ERR_WORKER_OUT_OF_MEMORY'

/** Titles that do not run, because they would fill the memory or take minutes. */
const notRun = new Map([
  [heapLimit, 'Bun has no heap limit for a thread, and in Deno a thread at its limit does not end'],
  ['a value of 100 MiB arrives whole, as payload and as result', 'Deno takes minutes to copy such an array'],
])
/** Titles that must fail. When one passes, the runtime has changed, and its line must go. */
const failing = {
  'bun thread': [syntaxError],
  'bun process': [
    syntaxError,
    // The deserialize() of Bun makes a Buffer.
    'a Buffer arrives as a Uint8Array with the same bytes',
  ],
  'deno thread': [
    syntaxError,
    // Deno detaches a buffer although postMessage() fails.
    'a rejected run() call leaves its buffer intact',
    // Deno has no parentPort.removeAllListeners().
    'a handler that closes its channel to the host harms no task',
    // A thread has an empty threadName.
    'the label names the threads, the processes and the stats() of a pool',
  ],
  'deno process': [
    syntaxError,
    // Deno's structuredClone() accepts a buffer twice in its transfer list.
    'a rejected run() call leaves its buffer intact',
    // A process has the title of Deno.
    'the label names the threads, the processes and the stats() of a pool',
  ],
}
/**
 * In Deno, a process that exits may appear as killed (exitCode 137), or as one that did not load its file. So a title fails when it fails
 * this many times in a row.
 */
const tries = { 'deno process': 3 }
/** Fails nearly always for the same reason, because it ends many processes. */
const unreliable = { 'deno process': ['fifteen worker exits leave no handle open'] }

const valuesProgram = `
import assert from 'node:assert/strict'
import { Pool } from 'lido'
const pool = new Pool({ filename: new URL('echo.js', import.meta.url), backend: 'process', maxWorkers: 1 })
const words = new Int32Array(new SharedArrayBuffer(8))
const { port1 } = new MessageChannel()
for (const [part, reason] of [[words, /SharedArrayBuffer is memory/], [port1, /MessagePort/], [() => {}, /clone/]]) {
  await assert.rejects(pool.run({ deep: [part] }), { path: 'payload.deep[0]', message: reason })
}
assert.throws(() => pool.share([words.buffer]), { path: 'value[0]', message: /SharedArrayBuffer/ })
const table = new Map([['bytes', new Uint8Array([1, 2])], ['words', new Int32Array([3])]])
assert.deepEqual(await pool.run(pool.share(table)), structuredClone(table))
await assert.rejects(pool.run(new Blob(['text'])), { path: 'payload', message: /Blob/ })
await pool.destroy()
console.log('PASSED')
`

let project
const open = async () => {
  if (project !== undefined) return project
  project = await install('runtimes', ['bun', 'deno'], { type: 'module' })
  for (const name of ['conformance', 'helpers', 'fixtures', 'setups'])
    cpSync(join(root, 'test', name), project.path('test', name), { recursive: true })
  // Deno finds a package only from a file inside the project.
  mkdirSync(project.path('tmp'))
  return project
}

async function conform(backend, key, program, ...flags) {
  const titles = Object.entries(promises).flatMap(([group, list]) =>
    Object.keys(list)
      .filter(title => !notRun.has(title) && deviations[backend][title] === undefined)
      .map(title => [group, title]),
  )
  const failed = new Map()
  const left = [...titles]
  const runRest = async () => {
    for (let next = left.shift(); next !== undefined; next = left.shift()) {
      const [group, title] = next
      const args = [...flags, 'test/setups/conformance-program.js', backend, group, title]
      for (let triesLeft = tries[key] ?? 1; triesLeft > 0; triesLeft--) {
        const ended = await command(project.folder, program, args, {
          env: { TMPDIR: project.path('tmp') },
          limitMs: 60_000,
        })
        failed.set(title, ended.output + ended.errors)
        if (!/^PASSED$/m.test(ended.output)) continue
        failed.delete(title)
        break
      }
    }
  }
  await Promise.all([runRest(), runRest()])
  const found = [...failed.keys()].filter(title => !unreliable[key]?.includes(title)).sort()
  const reasons = found.filter(title => !failing[key].includes(title)).map(title => failed.get(title))
  assert.deepEqual(found, [...failing[key]].sort(), reasons.join('\n'))
  assert.ok(titles.length > 80, `${titles.length} titles`)
}

test('a pool in Bun and in Deno runs a task on each backend, and Bun warns that it limits no heap', {
  timeout: 120_000,
}, async () => {
  await open()
  project.write({
    'double.js': `import { isWorkerThread } from 'lido/worker'
export default number => [number * 2, isWorkerThread]
`,
    'each.js': `import { Pool } from 'lido'
const told = []
const warnings = []
process.on('warning', ({ code }) => warnings.push(code))
const resourceLimits = { maxOldGenerationSizeMb: 100 }
for (const options of [{ backend: process.argv[2], resourceLimits }, { backend: 'thread' }, { backend: 'process' }, { backend: 'inline' }]) {
  const pool = new Pool({ filename: new URL('./double.js', import.meta.url), maxWorkers: 1, ...options })
  told.push(await pool.run(21))
  await pool.close()
}
console.log(JSON.stringify([told, warnings]))
`,
  })
  const inWorker = [42, true]
  const told = [inWorker, inWorker, inWorker, [42, false]]
  for (const limited of ['thread', 'process']) {
    for (const [name, warnings, ...flags] of [
      ['bun', ['LIDO_HEAP_LIMIT']],
      ['deno', [], 'run', '-A'],
    ]) {
      const program = project.path(`node_modules/.bin/${name}`)
      const seen = await output(project.folder, program, [...flags, 'each.js', limited])
      assert.deepEqual(JSON.parse(seen), [told, warnings], `${name}, ${limited}`)
    }
  }
})

heavyRow('Bun, threads', 'conform, with listed deviations', 'nothing', async () => {
  await open()
  await conform('thread', 'bun thread', project.path('node_modules/.bin/bun'))
  return project.versions('bun')
})

heavyRow('Bun, processes', 'conform, with listed deviations', 'nothing', async () => {
  await open()
  const bun = project.path('node_modules/.bin/bun')
  project.write({ 'echo.js': 'export default value => value', 'values.js': valuesProgram })
  assert.equal(await output(project.folder, bun, ['values.js']), 'PASSED')
  await output(project.folder, bun, ['build', '--compile', 'values.js', '--outfile', 'single'])
  const single = await command(project.folder, project.path('single'), [])
  assert.match(single.errors, /'backend' must be 'thread' or 'inline' in a single executable/)
  await conform('process', 'bun process', bun)
  return project.versions('bun')
})

for (const backend of ['thread', 'process']) {
  const name = backend === 'thread' ? 'threads' : 'processes'
  heavyRow(`Deno, ${name}`, 'conform, with listed deviations', 'run with -A', async () => {
    await open()
    await conform(backend, `deno ${backend}`, project.path('node_modules/.bin/deno'), 'run', '-A')
    return project.versions('deno')
  })
}
