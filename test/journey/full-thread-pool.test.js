// Native work fills libuv's thread pool, which all threads of the process share. An opened FIFO without a writer stands
// for such work: it keeps one thread of the pool until the test opens the other end.
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { closeSync, constants, open as openFile, openSync } from 'node:fs'
import { join } from 'node:path'
import { openFolder } from '../helpers/folder.js'
import { test } from '../helpers/pool-test.js'

const threads = Number(process.env.UV_THREADPOOL_SIZE ?? 4)
const skip = process.platform === 'win32' ? 'Windows has no FIFOs' : false

test('a new worker loads an ES module while the thread pool is full', { skip }, async (open, t) => {
  const folder = openFolder(t)
  folder.write('step.mjs', 'export const step = 1\n')
  const filename = folder.write(
    'handler.mjs',
    "import { step } from './step.mjs'\nexport default number => number + step\n",
  )
  const fifos = Array.from({ length: threads }, (_, index) => join(folder.path, `fifo-${index}`))
  assert.equal(spawnSync('mkfifo', fifos).status, 0)
  const opened = fifos.map(
    fifo => new Promise(resolve => openFile(fifo, 'r', (_, descriptor) => resolve(descriptor))),
  )
  try {
    assert.equal(await open({ filename, minWorkers: 1, maxWorkers: 1 }).run(1), 2)
  } finally {
    for (const fifo of fifos) closeSync(openSync(fifo, constants.O_RDWR | constants.O_NONBLOCK))
    for (const descriptor of await Promise.all(opened)) closeSync(descriptor)
  }
})

test('a module gets the unchanged readFile after it was loaded', async (open, t) => {
  const filename = openFolder(t).write(
    'handler.mjs',
    "import fs from 'node:fs'\nimport { readFile } from 'node:fs/promises'\n" +
      'export default () => readFile === fs.promises.readFile && !String(readFile).includes("imports")\n',
  )
  assert.equal(await open({ filename, maxWorkers: 1 }).run(), true)
})
