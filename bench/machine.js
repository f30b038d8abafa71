// Describes the machine, its load and its installed packages for the head of the results.
import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import os from 'node:os'

export function describeMachine() {
  return {
    node: process.versions.node,
    v8: process.versions.v8,
    platform: `${process.platform} ${process.arch}`,
    release: os.release(),
    cpu: os.cpus()[0]?.model.trim() ?? 'unknown',
    cores: os.availableParallelism(),
    memoryMebibytes: Math.round(os.totalmem() / 2 ** 20),
    loadAverage: os.loadavg()[0],
    pinnableCore: findPinnableCore(),
  }
}

/** A core to which `taskset` can bind a process; null without `taskset`. */
function findPinnableCore() {
  try {
    const allowed = /^Cpus_allowed_list:\s*(\d+)/m.exec(readFileSync('/proc/self/status', 'utf8'))
    const core = Number(allowed[1])
    return spawnSync('taskset', ['-c', String(core), 'true']).status === 0 ? core : null
  } catch {
    return null
  }
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
