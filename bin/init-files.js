// The files that `npx lido init` writes.

/** The files for a project: `{ name, purpose, text }`, the handler first, then the pool and the test. */
export function filesOf(project) {
  const { extension } = project
  return [
    { name: `work${extension}`, purpose: 'the function that runs in a worker', text: handler(project) },
    { name: `pool${extension}`, purpose: 'the pool', text: pool(project) },
    {
      name: `pool.test${extension}`,
      purpose: 'a test',
      text: project.runner === 'node' ? test(project) : testInRunner(project),
    },
  ]
}

function handler({ isTypeScript, isModule }) {
  const parameter = isTypeScript ? '{ to }: { to: number }' : '{ to }'
  const body = `function countPrimes(${parameter})${isTypeScript ? ': number' : ''} {
  let count = 0
  for (let number = 2; number < to; number++) {
    let divisor = 2
    while (divisor * divisor <= number && number % divisor !== 0) divisor++
    if (divisor * divisor > number) count++
  }
  return count
}
`
  const comment = '// These functions run in workers. Arguments and results are copied.\n'
  if (isModule || isTypeScript) return `${comment}export ${body}`
  return `${comment}${body}\nmodule.exports = { countPrimes }\n`
}

/** The lines that create a pool. The path is the text of an import(), which lido reads. */
function pool(project) {
  const { isTypeScript, isModule, importExtension } = project
  const create = `new Pool({ module: () => import('./work${importExtension}'), base: ${baseOf(project)} })`
  const comment = '// The pool of this program. One pool is enough: it uses all cores.\n'
  if (isModule || isTypeScript)
    return `${comment}import { Pool } from 'lido'\n\nexport const pool = ${create}\n`
  return `${comment}const { Pool } = require('lido')\n\nconst pool = ${create}\n\nmodule.exports = { pool }\n`
}

function baseOf({ isModule }) {
  return isModule ? 'import.meta.url' : '__filename'
}

function test({ isTypeScript, isModule, importExtension }) {
  const body = `after(() => pool.close())

test('countPrimes() runs in a worker', async () => {
  equal(await pool.api.countPrimes({ to: 100 }), 25)
})
`
  if (isModule || isTypeScript)
    return `import { equal } from 'node:assert/strict'
import { after, test } from 'node:test'
import { pool } from './pool${importExtension}'

${body}`
  return `const { equal } = require('node:assert/strict')
const { after, test } = require('node:test')
const { pool } = require('./pool${importExtension}')

${body}`
}

/** Vitest and Jest change modules, and workers do not see the changes. So their test runs the handler in its own thread. */
function testInRunner({ isTypeScript, isModule, importExtension, runner }) {
  const isImport = isModule || isTypeScript
  // ts-jest finds no work.ts behind './work.js'.
  const path = runner === 'jest' && isTypeScript && !isModule ? './work' : `./work${importExtension}`
  const module = runner === 'vitest' ? 'vitest' : '@jest/globals'
  const imports = isImport
    ? `import { Pool } from 'lido'
import { expect, test } from '${module}'
import * as work from '${path}'
`
    : `const { expect, test } = require('${module}')
const { Pool } = require('lido')
const work = require('${path}')
`
  return `${imports}
// With the backend 'inline', mocks and coverage reach the handler. Arguments and results are copied, as with workers.
test('countPrimes() counts the primes below a number', async () => {
  const pool = new Pool({ backend: 'inline', module: work })
  expect(await pool.api.countPrimes({ to: 100 })).toBe(25)
  await pool.close()
})
`
}
