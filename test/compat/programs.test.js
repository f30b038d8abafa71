// Small programs built on Piscina that run on lido through an npm override.
import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { test } from 'node:test'
import { compiler } from '../../scripts/compiler.js'
import { borrowProject, installedAs, returnProject, runCommand, spawnRecorder } from './borrowed-project.js'

const handler = `'use strict'

module.exports = ({ a, b }) => {
  if (b === undefined) throw new Error('b is missing')
  return a + b
}
`

// fastify-piscina 4 is from 2021. It depends on Piscina 3 and calls runTask(), also with the signal as second argument.
const server = `'use strict'

const { resolve } = require('node:path')
const fastify = require('fastify')()

fastify.register(require('fastify-piscina'), { filename: resolve(__dirname, 'handler.js'), maxThreads: 2 })
fastify.get('/sum', async request => ({ sum: await fastify.runTask({ a: 1, b: Number(request.query.b) }) }))
fastify.get('/broken', async () => fastify.runTask({ a: 1 }))
fastify.get('/cancelled', async () => {
  const controller = new AbortController()
  const result = fastify.runTask({ a: 1, b: 2 }, controller.signal)
  controller.abort()
  return { name: await result.catch(error => error.name) }
})

async function main() {
  await fastify.ready()
  const sums = await Promise.all(
    Array.from({ length: 50 }, (_, b) => fastify.inject('/sum?b=' + b).then(reply => reply.json().sum)),
  )
  const broken = await fastify.inject('/broken')
  const cancelled = await fastify.inject('/cancelled')
  const { completed } = fastify.piscina
  await fastify.close()
  console.log(JSON.stringify({ sums, broken: broken.json(), cancelled: cancelled.json(), completed }))
}

main()
`

test('fastify-piscina runs its tasks on lido, and the process exits after the server closes', {
  timeout: 300_000,
}, async t => {
  const project = await borrowProject({ dependencies: { fastify: '^4.0.0', 'fastify-piscina': '^4.0.0' } })
  t.after(() => returnProject(project))
  assert.deepEqual(
    (await installedAs(project, 'piscina')).map(({ name }) => name),
    ['lido-as-piscina'],
  )

  writeFileSync(join(project, 'handler.js'), handler)
  writeFileSync(join(project, 'server.js'), server)
  const recorder = spawnRecorder(project)
  const { exitCode, stdout, output, timedOut, leftBehind } = await runCommand(
    process.execPath,
    ['server.js'],
    {
      cwd: project,
      env: recorder.env,
      limitMs: 30_000,
    },
  )
  assert.ok(!timedOut, `the process did not exit:\n${output}`)
  assert.equal(exitCode, 0, output)
  assert.ok(!leftBehind, 'a process was left behind')

  const answer = JSON.parse(stdout.trim().split('\n').at(-1))
  assert.deepEqual(
    answer.sums,
    Array.from({ length: 50 }, (_, b) => 1 + b),
  )
  assert.equal(answer.broken.message, 'b is missing')
  assert.equal(answer.broken.statusCode, 500)
  assert.deepEqual(answer.cancelled, { name: 'AbortError' })
  assert.ok(answer.completed >= 51, `completed: ${answer.completed}`)
  for (const file of recorder.startedFrom()) assert.match(file, /node_modules[\\/]lido[\\/]dist[\\/]/)
})

const ownProgram = `import Piscina, { move, Piscina as named, version } from 'piscina'
import { createRequire } from 'node:module'
import { fileURLToPath } from 'node:url'

const required = createRequire(import.meta.url)('piscina')
const pool = new Piscina({ filename: fileURLToPath(new URL('./handler.js', import.meta.url)), maxThreads: 2 })
const sum = await pool.run({ a: 1, b: 2 })
await pool.close()
console.log(JSON.stringify({
  isOneClass: required === Piscina && named === Piscina,
  hasNames: typeof move === 'function' && version === required.version,
  sum,
}))
`

// TypeScript as programs write it today. Piscina itself has no types for \`import = require\` either.
const typedProgram = `import Piscina, { FixedQueue, move, type PiscinaTask, type TaskQueue } from 'piscina'

class OwnQueue implements TaskQueue {
  #tasks: PiscinaTask[] = []
  get size(): number { return this.#tasks.length }
  shift(): PiscinaTask | null { return this.#tasks.shift() ?? null }
  push(task: PiscinaTask): void { this.#tasks.push(task) }
  remove(task: PiscinaTask): void { this.#tasks = this.#tasks.filter(other => other !== task) }
}

export async function main(isPlain: boolean): Promise<number> {
  const taskQueue = isPlain ? new FixedQueue() : new OwnQueue()
  const pool: Piscina<{ a: number }, number> = new Piscina<{ a: number }, number>({
    filename: 'handler.js', maxThreads: 2, maxQueue: 'auto', atomics: 'async', taskQueue,
  })
  // @ts-expect-error a is a number
  await pool.run({ a: '1' })
  const { signal } = new AbortController()
  move(new ArrayBuffer(1))
  return pool.run({ a: 1 }, { signal, name: 'default' })
}
`

test('a program that depends on piscina gets one class from import and require(), with types', {
  timeout: 300_000,
}, async t => {
  const project = await borrowProject({ direct: true })
  t.after(() => returnProject(project))
  writeFileSync(join(project, 'handler.js'), handler)
  writeFileSync(join(project, 'program.mjs'), ownProgram)
  const ran = await runCommand(process.execPath, ['program.mjs'], { cwd: project, limitMs: 30_000 })
  assert.equal(ran.exitCode, 0, ran.output)
  assert.deepEqual(JSON.parse(ran.stdout), { isOneClass: true, hasNames: true, sum: 3 })

  const require = createRequire(import.meta.url)
  for (const name of ['typed.mts', 'typed.cts']) writeFileSync(join(project, name), typedProgram)
  const compilerOptions = {
    module: 'nodenext',
    target: 'ES2022',
    lib: ['ES2023', 'ESNext.Disposable'],
    strict: true,
    noEmit: true,
    types: ['node'],
    typeRoots: [dirname(dirname(require.resolve('@types/node/package.json')))],
  }
  writeFileSync(join(project, 'tsconfig.json'), JSON.stringify({ compilerOptions, include: ['typed.*'] }))
  const checked = await runCommand(process.execPath, [compiler], {
    cwd: project,
  })
  assert.equal(checked.exitCode, 0, checked.output)
})
