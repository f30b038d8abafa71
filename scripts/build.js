// Builds the package with plain tsc, twice: dist/esm, and dist/cjs for those who cannot load ES modules.
//   node scripts/build.js             build
//   node scripts/build.js --if-stale  build only when a source is newer than the last build
//   node scripts/build.js --check     type-check the sources and the tests, write nothing
// In the CommonJS pass a file named `x.cjs.ts` stands in for its neighbour `x.ts`.
import { spawnSync } from 'node:child_process'
import { cpSync, existsSync, readdirSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = dirname(dirname(fileURLToPath(import.meta.url)))
const tsc = createRequire(import.meta.url).resolve('typescript/bin/tsc')
const dist = join(root, 'dist')
const next = join(root, 'build', 'dist')
const stamp = join(dist, '.built')

function compile(project, ...flags) {
  const { status } = spawnSync(process.execPath, [tsc, '-p', project, ...flags], {
    cwd: root,
    stdio: 'inherit',
  })
  if (status !== 0) process.exit(status ?? 1)
}

function newestSource() {
  const times = ['package.json', 'tsconfig.json'].map(name => statSync(join(root, name)).mtimeMs)
  for (const entry of readdirSync(join(root, 'src'), { recursive: true, withFileTypes: true })) {
    if (entry.isFile()) times.push(statSync(join(entry.parentPath, entry.name)).mtimeMs)
  }
  return Math.max(...times)
}

function buildEsm() {
  compile('tsconfig.json', '--outDir', join(next, 'esm'))
}

function buildCjs() {
  const stage = join(root, 'build', 'cjs')
  rmSync(stage, { recursive: true, force: true })
  cpSync(join(root, 'src'), join(stage, 'src'), { recursive: true })
  for (const entry of readdirSync(join(stage, 'src'), { recursive: true, withFileTypes: true })) {
    if (!entry.name.endsWith('.cjs.ts')) continue
    const standIn = join(entry.parentPath, entry.name)
    renameSync(standIn, standIn.replace(/\.cjs\.ts$/, '.ts'))
  }
  writeFileSync(join(stage, 'package.json'), '{ "type": "commonjs" }\n')
  writeFileSync(
    join(stage, 'tsconfig.json'),
    JSON.stringify({
      extends: '../../tsconfig.json',
      compilerOptions: {
        rootDir: 'src',
        outDir: '../dist/cjs',
        verbatimModuleSyntax: false,
        erasableSyntaxOnly: false,
      },
      files: ['src/index.ts', 'src/worker/index.ts', 'src/adapters/piscina/index.ts'],
      include: [],
    }),
  )
  compile(join(stage, 'tsconfig.json'))
  writeFileSync(join(next, 'cjs', 'package.json'), '{ "type": "commonjs" }\n')
}

const mode = process.argv[2]
if (mode === '--check') {
  compile('tsconfig.json', '--noEmit')
  compile('tsconfig.test.json', '--noEmit')
} else if (mode !== '--if-stale' || !existsSync(stamp) || statSync(stamp).mtimeMs < newestSource()) {
  rmSync(next, { recursive: true, force: true })
  buildEsm()
  buildCjs()
  writeFileSync(join(next, '.built'), '')
  // Put in place whole, so that whoever runs the package meanwhile sees the old build or the new one.
  rmSync(dist, { recursive: true, force: true })
  renameSync(next, dist)
}
