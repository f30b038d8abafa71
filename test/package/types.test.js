// Strict TypeScript programs compile against the installed package in every resolution mode. The compiler checks the
// declarations of the package too. The programs are in `types/`. Code that must not compile has `@ts-expect-error`.
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
/** The last compiler that supports `moduleResolution: node10`. */
const older = require.resolve('typescript/bin/tsc')
/** The oldest compiler that lido supports. */
const oldest = require.resolve('typescript-5.4/bin/tsc')
const compilers = { newest, older, oldest }
/**
 * TypeScript 5.6 was the first to read the export 'module.exports' of `lido/piscina`. TypeScript 5.8 was the first to let a CommonJS
 * file import an ES module, as Nest and `fastify-beside.cts` need.
 */
const canRead = (compiler, file) => compiler !== oldest || !/^(piscina|nestjs|fastify-beside)\./.test(file)

mkdirSync(join(project, 'node_modules', '@types'))
symlinkSync(
  dirname(require.resolve('@types/node/package.json')),
  join(project, 'node_modules', '@types', 'node'),
  'junction',
)

/** The packages that a program in this project has installed beside lido. */
for (const name of ['@fastify', '@nestjs', '@opentelemetry', 'fastify', 'reflect-metadata', 'rxjs']) {
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
  // As in a library or in Nest's starter: inferred types of exports must have names that a program can import.
  declaration: true,
  noEmit: true,
}

const names = /"uper"' is not assignable to .*"upper"/
const several = /Call pool\.api\.multiplied\(\)\./
/** Calls with one mistake, the place of its error, and the message there. */
const wrongCalls = [
  ["pool.run(«1, { name: 'upper' })", /'number' is not assignable to .*'string'/],
  ["pool.stream(«'1', { name: 'numbers' })", /'string' is not assignable to .*'number'/],
  ["pool.api.rows('one', «'two')", /'string' is not assignable to .*'number'/],
  ["pool.transform({ «name: 'uper' })", names],
  ["pool.run('one', { «name: 'uper' })", names],
  ["pool.run('one', { timeout: 1, «name: 'uper' })", names],
  ["pool.map(['one'], { «name: 'uper' })", names],
  ["pool.map(['one'], { «name: 'uper', onError: 'skip' })", names],
  ["pool.stream('one', { «name: 'uper' })", names],
  ["pool.broadcast('one', { «name: 'uper' })", names],
  ["pool.with({ «name: 'upper' })", /'name' does not exist/],
  ["pool.api.«uper('one')", /Property 'uper' does not exist .*'upper'/],
  ["pool.run(1, { «name: 'multiplied' })", several],
  ["pool.map([1], { «name: 'multiplied' })", several],
  ["pool.broadcast(1, { «name: 'multiplied' })", several],
  ["pool.stream('one', { «name: 'rows' })", /Call pool\.api\.rows\(\)\./],
  ["nameless.run(«'one')", /The module has no default function\. Give the option 'name'\./],
  ['ofPair.run(«1)', /Call pool\.api\.default\(\)\./],
  ['ofPair.map(«[1])', /Call pool\.api\.default\(\)\./],
]

/** Copies the programs, or renames them to `.ts` when TypeScript must choose their module format. */
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

describe('strict TypeScript programs', { concurrency: 2 }, () => {
  for (const [name, compiler] of Object.entries(compilers)) {
    test(`ES module and CommonJS programs compile with module nodenext (${name} compiler)`, async () => {
      const folder = `nodenext-${name}`
      // A program declares the modules of its pools once, here in `fastify.mts`. So `fastify.cts` needs its own program.
      copyPrograms(folder, file => file !== 'fastify.cts' && canRead(compiler, file))
      assert.equal(await complaints(compiler, folder, { module: 'nodenext' }), '')
    })

    // The test above checks the declarations with the older compiler.
    const skipLibCheck = compiler !== newest

    test(`a CommonJS program with Fastify compiles with module nodenext (${name} compiler)`, async () => {
      const folder = `commonjs-${name}`
      copyPrograms(folder, file => file === 'fastify.cts')
      assert.equal(await complaints(compiler, folder, { module: 'nodenext', skipLibCheck }), '')
    })

    test(`ES module programs compile with moduleResolution bundler (${name} compiler)`, async () => {
      const folder = `bundler-${name}`
      copyPrograms(folder, file => file.endsWith('.mts') && canRead(compiler, file), 'm')
      const options = { module: 'esnext', moduleResolution: 'bundler', skipLibCheck }
      assert.equal(await complaints(compiler, folder, options), '')
    })

    test(`each wrong argument of a call is one error at its place (${name} compiler)`, async () => {
      const folder = `wrong-${name}`
      copyPrograms(folder, file => file === 'handler.mts')
      const program = [
        "import { Pool } from 'lido'",
        "const pool = new Pool<typeof import('./handler.mjs')>()",
        'const nameless = new Pool<{ upper(text: string): string }>()',
        'const ofPair = new Pool<{ default(one: number, other: number): number }>()',
        ...wrongCalls.map(([call]) => call.replaceAll('«', '')),
      ]
      write(`${folder}/wrong.mts`, program.join('\n'))
      const output = await complaints(compiler, folder, { module: 'nodenext', skipLibCheck: true })
      const errors = output.split('\n').filter(line => /error TS/.test(line))
      assert.equal(errors.length, wrongCalls.length, output)
      for (const [index, [call, message]] of wrongCalls.entries()) {
        const line = program.length - wrongCalls.length + index + 1
        const place = `wrong.mts(${line},${call.indexOf('«') + 1}): `
        assert.ok(errors[index].includes(place), `${call}\n${errors[index]}`)
        // The older compilers add details in lines of their own.
        assert.match(errors[index], message, call)
      }
    })
  }

  test('CommonJS programs compile with moduleResolution node10 and the es2022 library', async () => {
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
