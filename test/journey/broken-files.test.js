// A pool recovers when its broken handler file is repaired. The fault corpus tests the rejections before the repair.
import assert from 'node:assert/strict'
import { WorkerStartError } from 'lido'
import { openFolder } from '../helpers/folder.js'
import { handler } from '../helpers/handler.js'
import { test } from '../helpers/pool-test.js'
import { rejection } from '../helpers/rejection.js'
import { untilItWorks } from '../helpers/retry.js'

const repaired = { mjs: 'export default value => value', cjs: 'module.exports = value => value' }

/** For each fault: the extension of the file, its content (`null`: no file) and the message of the error. */
const breakages = {
  'is missing': ['mjs', null, /There is no file/],
  throws: ['mjs', 'throw new Error("broken at load")', /broken at load/],
  'imports a missing file': ['mjs', 'import "./missing.mjs"', /missing\.mjs/],
  'is CommonJS and throws': ['cjs', 'throw new Error("broken at load")', /broken at load/],
  'is CommonJS and does not parse': ['cjs', 'module.exports = {{', /SyntaxError|Unexpected token/],
}

for (const [what, [extension, source, cause]] of Object.entries(breakages)) {
  const write = (folder, text) => folder.write(`handler.${extension}`, text)
  const place = folder => (source === null ? `${folder.path}/handler.${extension}` : write(folder, source))

  test(`a pool whose handler file ${what} recovers after the file is repaired`, async (open, t) => {
    const folder = openFolder(t)
    const filename = place(folder)
    const pool = open({ filename, minWorkers: 1, maxWorkers: 1 })
    // A fifth failed start would reach the limit of the option 'restart'.
    for (let call = 0; call < 4; call++) {
      const error = await rejection(pool.run(1))
      assert.ok(error instanceof WorkerStartError, String(error))
      assert.equal(error.filename, filename)
      assert.match(error.message, cause)
    }
    write(folder, repaired[extension])
    assert.equal(await untilItWorks(() => pool.run('repaired')), 'repaired')
  })

  test(`a call whose own file ${what} succeeds on the same worker after the file is repaired`, async (open, t) => {
    const folder = openFolder(t)
    const filename = place(folder)
    const pool = open({ filename: handler('echo.js'), minWorkers: 1, maxWorkers: 1 })
    const calls = [pool.run(1), pool.run(2, { filename }), pool.run(3)]
    const [before, broken, after] = await Promise.allSettled(calls)
    assert.deepEqual([before.value, after.value], [1, 3])
    assert.ok(broken.reason instanceof WorkerStartError, String(broken.reason))
    assert.match(broken.reason.message, cause)
    folder.write('missing.mjs', '')
    write(folder, repaired[extension])
    assert.equal(await untilItWorks(() => pool.run('repaired', { filename })), 'repaired')
    assert.equal(pool.workers[0].id, 1)
  })
}
