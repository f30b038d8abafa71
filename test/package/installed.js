// The package as users get it: packed from the built tree and installed in an empty folder without network. Each test file
// has its own installation, which is removed when its process exits.
import assert from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, readdirSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'

const limitMs = 45_000
const isWindows = process.platform === 'win32'

export const root = fileURLToPath(new URL('../../', import.meta.url))

const place = realpathSync(mkdtempSync(join(tmpdir(), 'lido-package-')))
process.on('exit', () => rmSync(place, { recursive: true, force: true, maxRetries: 5 }))

export const tarball = pack()
/** The user's project: an empty folder, then `npm install`. */
export const project = install()
export const installedPackage = join(project, 'node_modules', 'lido')

function pack() {
  const destination = join(place, 'packed')
  mkdirSync(destination)
  // The tree is already built. `prepack` would build it again while other tests use it.
  npm(root, 'pack', '--ignore-scripts', '--pack-destination', destination)
  return join(destination, readdirSync(destination)[0])
}

function install() {
  const folder = join(place, 'project')
  mkdirSync(folder)
  npm(
    folder,
    'install',
    tarball,
    '--offline',
    '--no-audit',
    '--no-fund',
    '--ignore-scripts',
    `--prefix=${folder}`,
  )
  return folder
}

function npm(cwd, ...args) {
  const { status, stderr, error } = spawnSync(isWindows ? 'npm.cmd' : 'npm', [...args, '--loglevel=error'], {
    cwd,
    env: { ...cleanEnvironment(), npm_config_cache: join(place, 'cache') },
    encoding: 'utf8',
    shell: isWindows,
  })
  if (status !== 0) throw new Error(`npm ${args[0]} failed: ${stderr ?? ''}`, { cause: error })
}

/** The environment of a user's shell, without the variables of the test runner and of npm. */
function cleanEnvironment() {
  const isOurs = name => /^npm_/i.test(name) || name === 'NODE_OPTIONS' || name === 'NODE_TEST_CONTEXT'
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => !isOurs(name)))
}

/** Writes a file into the user's project and returns its path. */
export function write(name, source) {
  const file = join(project, name)
  mkdirSync(dirname(file), { recursive: true })
  writeFileSync(file, source)
  return file
}

/** Writes a program into the user's project and runs it. Resolves with its exit code and output. */
export async function run(name, source, ...flags) {
  write(name, source)
  return await node(...flags, name)
}

/** Runs Node in the user's project. Resolves with its exit code and output. */
export async function node(...args) {
  const child = spawn(process.execPath, args, {
    cwd: project,
    env: cleanEnvironment(),
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const limit = setTimeout(() => child.kill('SIGKILL'), limitMs)
  const [output, errors, [exitCode, signal]] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, 'close'),
  ])
  clearTimeout(limit)
  return { exitCode: exitCode ?? signal, output, errors }
}

/** The output of a program, which must have exited with code 0. */
export function printed({ exitCode, output, errors }) {
  assert.equal(exitCode, 0, `exit code ${exitCode}\n${output}${errors}`)
  return output.trim()
}

/** The one line of JSON that a program printed. */
export function answer(ended) {
  return JSON.parse(printed(ended))
}
