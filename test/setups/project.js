// A temporary project with the packed tarball of lido and tools from the npm registry, as a user has them. Needs lido's built dist.
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'

export const root = fileURLToPath(new URL('../../', import.meta.url))
const onWindows = process.platform === 'win32'

const place = realpathSync(mkdtempSync(join(tmpdir(), 'lido-setups-')))
process.on('exit', () => rmSync(place, { recursive: true, force: true, maxRetries: 5 }))

/** The environment of a user's shell, without the variables of the test runner and of `npm run`. */
function cleanEnvironment(extra) {
  const isOurs = name =>
    (/^npm_/i.test(name) && !/^npm_config_(registry|cache|userconfig|.*proxy)$/i.test(name)) ||
    /^NODE_(OPTIONS|TEST_CONTEXT)$/.test(name)
  const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !isOurs(name)))
  return { ...env, ...extra }
}

/** Resolves with the exit code and the output of a command. Kills it, and all processes that it started, at the limit. */
export async function command(cwd, name, args, { env, limitMs = 120_000, input } = {}) {
  const child = spawn(name, args, {
    cwd,
    env: cleanEnvironment(env),
    stdio: [input === undefined ? 'ignore' : 'pipe', 'pipe', 'pipe'],
    detached: !onWindows,
    shell: onWindows,
  })
  child.stdin?.end(input)
  const limit = setTimeout(() => endGroup(child), limitMs)
  const [output, errors, [exitCode, signal]] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, 'close'),
  ])
  clearTimeout(limit)
  return { exitCode: exitCode ?? signal, output, errors }
}

export function endGroup(child) {
  try {
    if (onWindows) child.kill('SIGKILL')
    else process.kill(-child.pid, 'SIGKILL')
  } catch {
    // The processes have ended.
  }
}

/** The output of a command, which must end with exit code 0. */
export async function output(...call) {
  const ended = await command(...call)
  assert.equal(ended.exitCode, 0, `${call[1]} ${call[2].join(' ')}\n${ended.output}${ended.errors}`)
  return ended.output.trim()
}

/** For `npm install`. */
export const npmFlags = ['--no-audit', '--no-fund', '--prefer-offline', '--loglevel=error']

const packed = new Map()
/** Packs lido, or another package of this repository, once for all projects of this process. Resolves with the path of the tarball. */
export function tarball(folder = root) {
  if (!packed.has(folder)) {
    // The tree is already built. `prepack` would build it again while other tests use it.
    const args = ['pack', '--ignore-scripts', '--silent', '--pack-destination', place]
    packed.set(
      folder,
      output(folder, 'npm', args).then(name => join(place, name.split('\n').at(-1))),
    )
  }
  return packed.get(folder)
}

export class Project {
  constructor(folder) {
    this.folder = folder
  }

  /** Writes files into the project. */
  write(files) {
    for (const [name, source] of Object.entries(files)) {
      const file = join(this.folder, name)
      mkdirSync(dirname(file), { recursive: true })
      writeFileSync(file, typeof source === 'string' ? source : JSON.stringify(source, null, 2))
    }
  }

  path(...names) {
    return join(this.folder, ...names)
  }

  /** Runs Node in the project. Resolves with its output. */
  node(...args) {
    return output(this.folder, process.execPath, args)
  }

  /** Runs the program of a package by the path of the package's `bin`. Resolves with its output. */
  bin(name, args, options) {
    return output(this.folder, process.execPath, [this.binary(name), ...args], options)
  }

  binary(name, ofPackage = name) {
    const folder = this.path('node_modules', ofPackage)
    const { bin } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
    return join(folder, typeof bin === 'string' ? bin : bin[name])
  }

  /** The versions of packages, such as `esbuild 0.28.2`. */
  versions(...names) {
    return names.map(name => `${name} ${this.version(name)}`).join(', ')
  }

  version(name) {
    return JSON.parse(readFileSync(this.path('node_modules', name, 'package.json'), 'utf8')).version
  }
}

/** An empty project without packages. */
export function emptyProject(name, manifest = {}) {
  assert.ok(existsSync(join(root, 'dist', '.built')), "lido is not built. Run 'npm run build'.")
  const folder = join(place, name)
  mkdirSync(folder)
  const project = new Project(folder)
  project.write({ 'package.json': { name, private: true, ...manifest } })
  return project
}

/** A project with lido and these packages. A package that npm cannot install rejects. */
export async function install(name, packages, manifest) {
  const project = emptyProject(name, manifest)
  await output(project.folder, 'npm', ['install', await tarball(), ...packages, ...npmFlags], {
    limitMs: 240_000,
  })
  return project
}

/** A project with a tool that installs other projects, such as pnpm. */
export async function installTool(name, version) {
  const own = emptyProject(`tool-${name.replace(/\W/g, '-')}-${version}`)
  await output(own.folder, 'npm', ['install', `${name}@${version}`, ...npmFlags])
  return own
}

/** The path of a version of Node, installed from the npm registry. */
export async function nodeOf(version) {
  const own = emptyProject(`node-${version}`)
  await output(own.folder, 'npm', ['install', `node@${version}`, ...npmFlags])
  return own.path('node_modules', 'node', 'bin', 'node')
}

/** Such as `Node.js 24.21.0`. */
export async function versionOf(node) {
  return `Node.js ${(await output(place, node, ['--version'])).slice(1)}`
}
