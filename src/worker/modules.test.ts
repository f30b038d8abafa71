// Files and the functions in them: what a name reaches, how often a file is evaluated, and whose its teardown is.
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { loadingFiles } from '../shared/messages/loading.js'
import { hasFailedAgain, loadFile, noteAbove } from './handler-loader.js'
import { Modules } from './modules.js'

function write(t: TestContext, text: string, name = 'handler.mjs'): string {
  const folder = mkdtempSync(join(tmpdir(), 'lido-modules-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  writeFileSync(join(folder, name), text)
  return join(folder, name)
}

function makeModules() {
  const seen = { teardowns: 0 }
  const modules = new Modules(true, () => seen.teardowns++)
  return { modules, seen }
}

test('a name reaches functions among the own members of a module, then of what it exports by default', async t => {
  const filename = write(
    t,
    `class Base { inherited() {} }
export const named = () => 'named', number = 1
const own = Object.assign(new Base(), { named: () => 'inner', inner: () => 'inner', default: () => 'default' })
export default Promise.resolve(own)`,
  )
  const { modules } = makeModules()
  const answerOf = async (name: string) => (await modules.load({ filename, name }))?.(null) ?? null
  const names = ['named', 'inner', 'default', 'inherited', 'toString', 'number', '__proto__']
  assert.deepEqual(await Promise.all(names.map(answerOf)), [
    'named',
    'inner',
    'default',
    null,
    null,
    null,
    null,
  ])
})

test('a file is evaluated once, however many ask for it; one that failed is not tried again at once', async t => {
  const filename = write(t, 'throw { times: globalThis.modulesTest++ }')
  Object.assign(globalThis, { modulesTest: 0 })
  const loads = [loadFile(filename, true), loadFile(filename, true)]
  const reasons = (await Promise.allSettled(loads)).map(load => load.status === 'rejected' && load.reason)
  reasons.push(await loadFile(filename, true).catch(reason => reason))
  assert.deepEqual(reasons, [{ times: 0 }, { times: 0 }, { times: 0 }])
  assert.equal(hasFailedAgain({ filename, name: 'default' }), false)
})

test('what is loaded here, and where this worker was started from, is known until the first file is loaded', async t => {
  const [broken, first, next] = ['throw 1', '', ''].map(text => write(t, text))
  noteAbove(['/above.mjs'])
  const loading = () => [...loadingFiles()]
  const failed = loadFile(broken!, true)
  assert.deepEqual(loading(), ['/above.mjs', broken])
  await assert.rejects(failed, reason => reason === 1)
  assert.deepEqual(loading(), ['/above.mjs'])
  await loadFile(first!, true)
  assert.deepEqual(loading(), [])
  const shared = loadFile(next!, false)
  assert.deepEqual(loading(), [], 'modules that are not of this worker alone are not evaluated anew')
  await shared
})

test('of the workers of a thread the last that has loaded a file takes it down, once', async t => {
  const filename = write(t, 'export const one = () => {}, teardown = (...given) => given')
  const [first, last, late] = [makeModules(), makeModules(), makeModules()]
  for (const { modules } of [first, last])
    for (const name of ['one', 'one', 'missing']) await modules.load({ filename, name })
  assert.deepEqual([first.seen.teardowns, last.seen.teardowns], [1, 1])
  assert.deepEqual(late.modules.takeDown(), [])
  await late.modules.load({ filename, name: 'one' })
  assert.deepEqual([late.seen.teardowns, first.modules.takeDown()], [0, []])
  const due = last.modules.takeDown()
  assert.deepEqual(
    due.map(teardown => teardown()),
    [[undefined]],
  )
  assert.deepEqual([first.modules.takeDown(), last.modules.takeDown()], [[], []])
  const next = makeModules().modules
  await next.load({ filename, name: 'one' })
  assert.equal(next.takeDown().length, 1, 'it is loaded again')
})

test('a teardown is found where a module exports it, or what it exports by default has it; to look may throw', async t => {
  for (const [text, found] of [
    ['module.exports = { teardown: () => 1 }', 1],
    ['export const teardown = 1; export default { teardown: () => 2 }', 1],
    ["export default { get teardown() { throw new Error('why') } }", 0],
    ['export const teardown = null', 0],
  ] as const) {
    const filename = write(t, text, text.startsWith('module') ? 'handler.cjs' : 'handler.mjs')
    const { modules, seen } = makeModules()
    await modules.load({ filename, name: 'default' })
    assert.deepEqual([seen.teardowns, modules.takeDown().length], [found, found], text)
  }
})
