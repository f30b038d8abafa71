// Programs whose packages another package manager installed.
import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { emptyProject, installTool, npmFlags, output, tarball } from './project.js'
import { row } from './row.js'

const program = `import { Pool } from 'lido'
const told = {}
for (const backend of ['thread', 'process', 'inline']) {
  const pool = new Pool({ filename: new URL('./work.mjs', import.meta.url), maxWorkers: 1, backend })
  told[backend] = await pool.run(21)
  await pool.close()
}
console.log(JSON.stringify(told))
`
const work = `import { isWorkerThread } from 'lido/worker'
export default value => [value * 2, isWorkerThread]
`
const works = { thread: [42, true], process: [42, true], inline: [42, false] }

row('pnpm', 'works', 'nothing', async () => {
  const versions = []
  // pnpm 12 is a native program, and older versions are a script.
  for (const version of [10, 12]) {
    const pnpm = await installTool('pnpm', version)
    const own = emptyProject(`with-pnpm-${version}`)
    own.write({ 'main.mjs': program, 'work.mjs': work })
    await output(own.folder, pnpm.path('node_modules', '.bin', 'pnpm'), ['add', await tarball()])
    assert.deepEqual(JSON.parse(await own.node('main.mjs')), works)
    versions.push(pnpm.version('pnpm'))
  }
  return `pnpm ${versions.join(', ')}`
})

row('Yarn PnP', 'works', 'nothing', async () => {
  const yarn = await installTool('@yarnpkg/cli-dist', 4)
  const program4 = yarn.binary('yarn', '@yarnpkg/cli-dist')
  const own = emptyProject('with-yarn', { dependencies: { lido: `file:${await tarball()}` } })
  own.write({
    'main.mjs': program,
    'work.mjs': work,
    // The last line lets yarn write a lock file on a CI machine. By default it refuses.
    '.yarnrc.yml':
      'nodeLinker: pnp\nenableTelemetry: false\nenableGlobalCache: false\nenableImmutableInstalls: false\n',
    'yarn.lock': '',
  })
  await output(own.folder, process.execPath, [program4, 'install'])
  const told = await output(own.folder, process.execPath, [program4, 'node', 'main.mjs'])
  assert.deepEqual(JSON.parse(told.split('\n').at(-1)), works)
  assert.equal(existsSync(own.path('node_modules', 'lido')), false)
  return `yarn ${yarn.version('@yarnpkg/cli-dist')}`
})

row(
  'npm workspaces',
  'work, also with a handler in another workspace',
  "filename: 'name-of-the-package'",
  async () => {
    const own = emptyProject('workspaces', { workspaces: ['packages/*'] })
    const dependencies = { lido: `file:${await tarball()}` }
    own.write({
      'packages/work/package.json': { name: 'work', version: '1.0.0', main: 'work.mjs', dependencies },
      'packages/work/work.mjs': work,
      'packages/app/package.json': {
        name: 'app',
        version: '1.0.0',
        dependencies: { ...dependencies, work: '1.0.0' },
      },
      'packages/app/main.mjs': program.replace("new URL('./work.mjs', import.meta.url)", "'work'"),
    })
    await output(own.folder, 'npm', ['install', ...npmFlags])
    assert.deepEqual(JSON.parse(await own.node('packages/app/main.mjs')), works)
    return `npm ${await output(own.folder, 'npm', ['--version'])}`
  },
)
