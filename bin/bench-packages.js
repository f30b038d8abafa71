// The other pools that `npx lido bench` measures. The project has them, or the command installs them into a temporary folder.
import { spawn } from 'node:child_process'
import { mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { CommandError } from './command-error.js'

export const otherPools = ['piscina', 'tinypool']

/** The other pools that the project of the working directory has. */
export function poolsOfProject(known) {
  return otherPools
    .filter(name => !known.some(pool => pool.name === name))
    .flatMap(name => find(name, process.cwd()))
}

/** The entry file and the version of an installed package, in a list; an empty list without the package. */
function find(name, folder) {
  try {
    const entry = createRequire(join(folder, 'package.json')).resolve(name)
    for (let place = dirname(entry); place !== dirname(place); place = dirname(place)) {
      const manifest = readManifest(place)
      if (manifest?.name === name) return [{ name, entry, version: manifest.version }]
    }
    return []
  } catch (error) {
    if (error.code === 'MODULE_NOT_FOUND') return []
    throw error
  }
}

function readManifest(folder) {
  try {
    return JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
  } catch {
    return null
  }
}

/** Installs packages into a temporary folder. The user asked for it with `--with`. */
export async function installPools(names) {
  if (names.length === 0) return { pools: [], remove() {} }
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'lido-bench-')))
  let npm
  const removeFolder = () => rmSync(folder, { recursive: true, force: true, maxRetries: 5 })
  const onExit = () => {
    npm?.kill('SIGKILL')
    removeFolder()
  }
  process.once('exit', onExit)
  const remove = () => {
    process.off('exit', onExit)
    removeFolder()
  }
  try {
    process.stderr.write(`Installing ${names.join(' and ')} into ${folder}\n`)
    writeFileSync(join(folder, 'package.json'), '{ "private": true }\n')
    const isWindows = process.platform === 'win32'
    npm = spawn(isWindows ? 'npm.cmd' : 'npm', ['install', '--no-audit', '--no-fund', ...names], {
      cwd: folder,
      stdio: ['ignore', 'ignore', 'inherit'],
      shell: isWindows,
    })
    const code = await new Promise((done, failed) => npm.once('close', done).once('error', failed))
    const pools = names.flatMap(name => find(name, folder))
    if (code !== 0 || pools.length < names.length)
      throw new CommandError('npm could not install the packages.')
    return { pools, remove }
  } catch (error) {
    remove()
    throw error.code === 'ENOENT' ? new CommandError('The program npm is not found.') : error
  }
}
