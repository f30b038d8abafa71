// Strict TypeScript programs against the installed package, its own declarations checked too, in every way in which
// TypeScript finds a package. The programs are in `types/`; what must be refused there is marked `@ts-expect-error`.
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, readdirSync, readFileSync, symlinkSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { text } from 'node:stream/consumers'
import { describe, test } from 'node:test'
import { compiler as newest } from '../../scripts/compiler.js'
import { project, root, write } from './installed.js'

const require = createRequire(import.meta.url)
const programs = join(root, 'test', 'package', 'types')
/** The last that resolves as TypeScript did before it knew of exports. */
const older = require.resolve('typescript/bin/tsc')

mkdirSync(join(project, 'node_modules', '@types'))
symlinkSync(
  dirname(require.resolve('@types/node/package.json')),
  join(project, 'node_modules', '@types', 'node'),
  'junction',
)

/** The frameworks that a program of this project would have installed beside lido. */
for (const name of ['@fastify', '@nestjs', 'fastify', 'fastify-plugin', 'reflect-metadata', 'rxjs']) {
  symlinkSync(join(root, 'node_modules', name), join(project, 'node_modules', name), 'junction')
}

const strict = {
  target: 'es2022',
  lib: ['es2023', 'esnext.disposable'],
  types: ['node'],
  strict: true,
  exactOptionalPropertyTypes: true,
  noUncheckedIndexedAccess: true,
  esModuleInterop: true,
  skipLibCheck: false,
  experimentalDecorators: true,
  // As of a library, or of Nest's starter: what is inferred and exported must have names that a program can reach.
  declaration: true,
  noEmit: true,
}

/** Programs as they are, or renamed to `.ts` where TypeScript is to decide what they are. */
function copyPrograms(folder, isWanted, renamedFrom) {
  for (const name of readdirSync(programs)) {
    if (!isWanted(name)) continue
    const source = readFileSync(join(programs, name), 'utf8')
    if (renamedFrom === undefined) write(`${folder}/${name}`, source)
    else {
      const renamed = source.replaceAll(`.${renamedFrom}js'`, ".js'")
      write(`${folder}/${name.replace(`.${renamedFrom}ts`, '.ts')}`, renamed)
    }
  }
}

async function complaints(compiler, folder, compilerOptions) {
  write(`${folder}/tsconfig.json`, JSON.stringify({ compilerOptions: { ...strict, ...compilerOptions } }))
  const child = spawn(process.execPath, [compiler, '-p', join(project, folder), '--pretty', 'false'], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const [output] = await Promise.all([text(child.stdout), once(child, 'close')])
  return output
}

describe('strict programs compile', { concurrency: 2 }, () => {
  for (const [name, compiler] of Object.entries({ newest, older })) {
    test(`as Node resolves, from ES modules and from CommonJS, by the ${name} compiler`, async () => {
      const folder = `nodenext-${name}`
      // Which modules the pools run is said once in a program: here by `fastify.mts`. `fastify.cts` has another program.
      copyPrograms(folder, file => file !== 'fastify.cts')
      assert.equal(await complaints(compiler, folder, { module: 'nodenext' }), '')
    })

    // By the older one the declarations are checked above.
    const skipLibCheck = compiler === older

    test(`as Node resolves, a program of a framework in CommonJS, by the ${name} compiler`, async () => {
      const folder = `commonjs-${name}`
      copyPrograms(folder, file => file === 'fastify.cts')
      assert.equal(await complaints(compiler, folder, { module: 'nodenext', skipLibCheck }), '')
    })

    test(`as bundlers resolve, by the ${name} compiler`, async () => {
      const folder = `bundler-${name}`
      copyPrograms(folder, file => file.endsWith('.mts'), 'm')
      const options = { module: 'esnext', moduleResolution: 'bundler', skipLibCheck }
      assert.equal(await complaints(compiler, folder, options), '')
    })
  }

  test('as TypeScript resolved before it knew of exports, with the library of 2022', async () => {
    copyPrograms('node10', name => name.endsWith('.cts') && name !== 'fastify-beside.cts', 'c')
    const options = {
      module: 'commonjs',
      moduleResolution: 'node10',
      ignoreDeprecations: '6.0',
      lib: ['es2022'],
    }
    assert.equal(await complaints(older, 'node10', options), '')
  })
})
