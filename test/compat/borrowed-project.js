// Makes a throw-away project in which a program built on Piscina runs on lido, the way a user would set it up: packed
// tarballs, an `overrides` entry in package.json, `npm install` from the registry. Needs lido's built dist.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'

const here = dirname(fileURLToPath(import.meta.url))
const root = dirname(dirname(here))
const onWindows = process.platform === 'win32'

// Node's own flags of this test run are no business of the programs.
function environment(extra) {
  const { NODE_TEST_CONTEXT: _, NODE_OPTIONS: __, ...env } = process.env
  return { ...env, ...extra }
}

// Runs a command to its end in a process group of its own, so that what it leaves behind can be found.
export async function runCommand(command, args, { cwd, env, limitMs = 120_000 }) {
  const child = spawn(command, args, {
    cwd,
    env: environment(env),
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: !onWindows,
    shell: onWindows,
  })
  const endAll = () => {
    if (onWindows) return void child.kill('SIGKILL')
    try {
      process.kill(-child.pid, 'SIGKILL')
    } catch {
      // Nobody is left.
    }
  }
  let timedOut = false
  const limit = setTimeout(() => {
    timedOut = true
    endAll()
  }, limitMs)
  const [stdout, stderr] = [child.stdout, child.stderr].map(gather)
  const [exitCode] = await once(child, 'exit')
  clearTimeout(limit)
  // Asked before the pipes have closed: what stayed behind may hold them open.
  const leftBehind = await isGroupAlive(child.pid)
  endAll()
  return { exitCode, stdout: await stdout, output: (await stdout) + (await stderr), timedOut, leftBehind }
}

async function gather(stream) {
  let text = ''
  for await (const chunk of stream.setEncoding('utf8')) text += chunk
  return text
}

// A process that ended a moment ago is still listed until its parent has heard of it.
async function isGroupAlive(groupId) {
  if (onWindows) return false
  for (let attempt = 0; attempt < 20; attempt++) {
    try {
      process.kill(-groupId, 0)
    } catch {
      return false
    }
    await delay(100)
  }
  return true
}

async function runNpm(cwd, ...args) {
  const { exitCode, stdout, output } = await runCommand('npm', args, { cwd })
  if (exitCode !== 0) throw new Error(`npm ${args.join(' ')} ended with ${exitCode}:\n${output}`)
  return stdout
}

async function pack(directory, destination) {
  // --ignore-scripts: dist is built already, and others may be reading it just now.
  await runNpm(directory, 'pack', '--ignore-scripts', '--silent', '--pack-destination', destination)
  const { name, version } = readJson(join(directory, 'package.json'))
  return join(destination, `${name}-${version}.tgz`)
}

async function packBoth(destination) {
  const lido = await pack(root, destination)
  // The companion's tarball must name lido's, which no registry has yet.
  const companion = join(destination, 'as-piscina')
  cpSync(join(root, 'packages', 'as-piscina'), companion, {
    recursive: true,
    filter: source => !source.includes('node_modules'),
  })
  const manifest = readJson(join(companion, 'package.json'))
  manifest.dependencies.lido = `file:${lido}`
  writeJson(join(companion, 'package.json'), manifest)
  return { lido, asPiscina: await pack(companion, destination) }
}

function readJson(file) {
  return JSON.parse(readFileSync(file, 'utf8'))
}

function writeJson(file, value) {
  writeFileSync(file, `${JSON.stringify(value, null, 2)}\n`)
}

// Resolves to the project's directory. The caller owes it a call of returnProject(). With `direct` the project itself
// depends on piscina; npm then wants the same words in `dependencies` as in `overrides`.
export async function borrowProject({ dependencies = {}, direct = false }) {
  if (!existsSync(join(root, 'dist', '.built'))) throw new Error('lido is not built: npm run build')
  const project = join(mkdtempSync(join(tmpdir(), 'lido-compat-')), 'project')
  try {
    const tarballs = await packBoth(dirname(project))
    const piscina = `file:${tarballs.asPiscina}`
    mkdirSync(project)
    writeJson(join(project, 'package.json'), {
      name: 'borrowed',
      private: true,
      dependencies: direct ? { ...dependencies, piscina } : dependencies,
      overrides: { piscina },
    })
    await runNpm(project, 'install', '--no-audit', '--no-fund', '--prefer-offline', '--loglevel=error')
    return project
  } catch (error) {
    returnProject(project)
    throw error
  }
}

export function returnProject(project) {
  if (project) rmSync(dirname(project), { recursive: true, force: true, maxRetries: 5 })
}

// Says which package stands under the name `piscina`, and that no second one hides below.
export async function piscinasIn(project) {
  const listed = await runNpm(project, 'query', '[name=piscina], [name=lido-as-piscina]')
  return JSON.parse(listed).map(({ location, name, version }) => ({ location, name, version }))
}

// Environment that makes every process of a program note the files it starts threads from.
export function spawnRecorder(project) {
  const record = join(project, 'threads.txt')
  const preload = join(project, 'record-threads.cjs')
  cpSync(join(here, 'record-threads.cjs'), preload)
  return {
    env: { NODE_OPTIONS: `--require=${JSON.stringify(preload)}`, LIDO_THREAD_RECORD: record },
    startedFrom: () => (existsSync(record) ? readFileSync(record, 'utf8').trim().split('\n') : []),
  }
}
