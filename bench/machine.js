// Describes the machine, its load and its installed packages for the head of the results.
import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import os from 'node:os'

export function describeMachine() {
  const cores = findPinnableCores()
  return {
    node: process.versions.node,
    v8: process.versions.v8,
    platform: `${process.platform} ${process.arch}`,
    release: os.release(),
    cpu: os.cpus()[0]?.model.trim() ?? 'unknown',
    cores: os.availableParallelism(),
    memoryMebibytes: Math.round(os.totalmem() / 2 ** 20),
    loadAverage: os.loadavg()[0],
    pinnableCore: cores?.[0] ?? null,
    pinnablePair: cores?.length >= 2 ? cores.slice(0, 2).join() : null,
  }
}

/** The cores to which `taskset` can bind a process; null without `taskset`. */
function findPinnableCores() {
  try {
    const [, list] = /^Cpus_allowed_list:\s*(\S+)/m.exec(readFileSync('/proc/self/status', 'utf8'))
    const cores = list.split(',').flatMap(readRange)
    return spawnSync('taskset', ['-c', cores.join(), 'true']).status === 0 ? cores : null
  } catch {
    return null
  }
}

/** `0-2` are three cores. */
function readRange(text) {
  const [first, last = first] = text.split('-').map(Number)
  return Array.from({ length: last - first + 1 }, (_, index) => first + index)
}

/** The installed version of a package. Reads the file directly, because not every package exports its package.json. */
export function readVersion(name) {
  for (let url = new URL('.', import.meta.resolve(name)); url.pathname !== '/'; url = new URL('..', url)) {
    const manifest = readManifest(url)
    if (manifest?.name === name) return manifest.version
  }
  return 'unknown'
}

function readManifest(folder) {
  try {
    return JSON.parse(readFileSync(new URL('package.json', folder), 'utf8'))
  } catch {
    return null
  }
}
