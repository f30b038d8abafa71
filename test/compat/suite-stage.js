// Copies Piscina's own tests, unmodified, next to a package named `piscina` that loads the target. The tests also import private
// files of Piscina. Stand-ins replace those files and export only the names that the tests use.
import { cpSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

const standIns = {
  // The class and the names that a program sees. The tests import this file as '..', '../..', '../dist' and 'piscina'.
  'dist/index.js': "module.exports = require('..')\n",
  'dist/symbols.js': "exports.kQueueOptions = Symbol.for('Piscina.queueOptions')\n",
  // Imported for a type only.
  'dist/worker_pool.js': '',
  'dist/common.js': `const { availableParallelism } = require('node:os')
const { transferableSymbol, valueSymbol } = require('..')
const moved = Symbol.for('lido.moved')

exports.getAvailableParallelism = () => availableParallelism()
exports.isTransferable = value =>
  value != null && typeof value === 'object' && transferableSymbol in value && valueSymbol in value
exports.isMovable = value => exports.isTransferable(value) && value[moved] === true
exports.markMovable = value => {
  Object.defineProperty(value, moved, { enumerable: false, configurable: true, writable: true, value: true })
}
`,
}

// For the target Piscina, its own files replace the stand-ins. That run checks this program.
const ownFiles = {
  'index.js': "module.exports = require('./node_modules/target/dist/main.js')\n",
  'dist/index.js': "module.exports = require('../node_modules/target/dist/index.js')\n",
  'dist/symbols.js': "module.exports = require('../node_modules/target/dist/symbols.js')\n",
  'dist/worker_pool.js': "module.exports = require('../node_modules/target/dist/worker_pool')\n",
  'dist/common.js': "module.exports = require('../node_modules/target/dist/common.js')\n",
}

export function piscinaIn(root) {
  const directory = join(root, 'node_modules', 'piscina')
  return { directory, version: JSON.parse(readFileSync(join(directory, 'package.json'), 'utf8')).version }
}

export function layOutSuite({ root, stage, target }) {
  const piscina = piscinaIn(root)
  const companion = join(root, 'packages', 'as-piscina')
  rmSync(stage, { recursive: true, force: true })
  mkdirSync(join(stage, 'dist'), { recursive: true })
  mkdirSync(join(stage, 'node_modules'))
  cpSync(join(piscina.directory, 'test'), join(stage, 'test'), { recursive: true })

  const files = target === 'piscina' ? ownFiles : standIns
  for (const [name, text] of Object.entries(files)) writeFileSync(join(stage, name), text)
  if (target === 'piscina') {
    symlinkSync(piscina.directory, join(stage, 'node_modules', 'target'), 'junction')
  } else {
    symlinkSync(root, join(stage, 'node_modules', 'lido'), 'junction')
    cpSync(join(companion, 'index.js'), join(stage, 'index.js'))
  }
  // ES modules load both targets through the companion's index.mjs, which exports the names of index.js.
  cpSync(join(companion, 'index.mjs'), join(stage, 'index.mjs'))

  writeJson(join(stage, 'package.json'), {
    name: 'piscina',
    version: piscina.version,
    private: true,
    type: 'commonjs',
    main: './index.js',
    exports: { '.': { import: './index.mjs', require: './index.js' } },
  })
  // Keeps the settings of this repository away from the tests.
  writeJson(join(stage, 'tsconfig.json'), { compilerOptions: { esModuleInterop: true } })
}

function writeJson(file, value) {
  writeFileSync(file, `${JSON.stringify(value, null, 2)}\n`)
}
