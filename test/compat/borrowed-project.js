// Creates a temporary project in which a program built on Piscina, Tinypool or workerpool runs on lido. The set-up is that of a user: packed tarballs, an
// `overrides` entry in package.json, `npm install` from the registry. Needs lido's built dist.
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

// The programs must not inherit the Node settings of this test run.
function environment(extra) {
  const { NODE_TEST_CONTEXT: _, NODE_OPTIONS: __, ...env } = process.env
  return { ...env, ...extra }
}

// Runs a command in its own process group, so that processes which it leaves behind can be found.
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
      // No process is left.
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
  // Checked before the pipes close, because a process that was left behind may hold them open.
  const leftBehind = await isGroupAlive(child.pid)
  endAll()
  return { exitCode, stdout: await stdout, output: (await stdout) + (await stderr), timedOut, leftBehind }
}

async function gather(stream) {
  let text = ''
  for await (const chunk of stream.setEncoding('utf8')) text += chunk
  return text
}

// An exited process is listed until its parent reads its exit code, so this asks several times.
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
  if (exitCode !== 0) throw new Error(`'npm ${args.join(' ')}' exited with code ${exitCode}:\n${output}`)
  return stdout
}

async function pack(directory, destination) {
  // --ignore-scripts: dist is built already, and other tests may read it now.
  await runNpm(directory, 'pack', '--ignore-scripts', '--silent', '--pack-destination', destination)
  const { name, version } = readJson(join(directory, 'package.json'))
  return join(destination, `${name}-${version}.tgz`)
}

// Packs lido and the companion packages of the doors. Returns the tarball of each companion, by the name of its peer.
async function packAll(destination, peers) {
  const lido = await pack(root, destination)
  const tarballs = {}
  for (const peer of peers) {
    // The companion package must depend on the tarball of lido, because no registry has this version.
    const companion = join(destination, `as-${peer}`)
    cpSync(join(root, 'packages', `as-${peer}`), companion, {
      recursive: true,
      filter: source => !source.includes('node_modules'),
    })
    const manifest = readJson(join(companion, 'package.json'))
    manifest.dependencies.lido = `file:${lido}`
    writeJson(join(companion, 'package.json'), manifest)
    tarballs[peer] = `file:${await pack(companion, destination)}`
  }
  return tarballs
}

function readJson(file) {
  return JSON.parse(readFileSync(file, 'utf8'))
}

function writeJson(file, value) {
  writeFileSync(file, `${JSON.stringify(value, null, 2)}\n`)
}

// Resolves to the directory of the project. The caller must call returnProject(). lido takes the place of the packages in
// `peers`. With `direct` the project itself depends on them. npm then requires the same text in `dependencies` as in `overrides`.
export async function borrowProject({ dependencies = {}, peers = ['piscina'], direct = false }) {
  if (!existsSync(join(root, 'dist', '.built'))) throw new Error("lido is not built. Run 'npm run build'.")
  const project = join(mkdtempSync(join(tmpdir(), 'lido-compat-')), 'project')
  try {
    const overrides = await packAll(dirname(project), peers)
    mkdirSync(project)
    writeJson(join(project, 'package.json'), {
      name: 'borrowed',
      private: true,
      dependencies: direct ? { ...dependencies, ...overrides } : dependencies,
      overrides,
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

// Lists all installed packages with the name of the peer or of lido's companion package.
export async function installedAs(project, peer) {
  const listed = await runNpm(project, 'query', `[name=${peer}], [name=lido-as-${peer}]`)
  return JSON.parse(listed).map(({ location, name, version }) => ({ location, name, version }))
}

// Returns an environment in which each process of a program records the files of its worker threads.
export function spawnRecorder(project) {
  const record = join(project, 'threads.txt')
  const preload = join(project, 'record-threads.cjs')
  cpSync(join(here, 'record-threads.cjs'), preload)
  return {
    env: { NODE_OPTIONS: `--require=${JSON.stringify(preload)}`, LIDO_THREAD_RECORD: record },
    startedFrom: () => (existsSync(record) ? readFileSync(record, 'utf8').trim().split('\n') : []),
  }
}
