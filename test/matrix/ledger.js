// Counts what the process has: threads, descriptors, handles, timers, ports and listeners. Entries that are new at the second
// count are left over.
import { createHook } from 'node:async_hooks'
import { existsSync, readdirSync, readlinkSync } from 'node:fs'

const kinds = new Set(['Timeout', 'MESSAGEPORT', 'WORKER', 'PROCESSWRAP', 'PIPEWRAP'])
const SETTLING_TURNS = 50

export async function openLedger() {
  await settleDown()
  const alive = new Map()
  createHook({
    init(id, kind) {
      if (kinds.has(kind)) alive.set(id, kind)
    },
    destroy: id => alive.delete(id),
  }).enable()
  const before = entries([])
  return {
    async whatIsLeft() {
      await settleDown()
      const left = entries([...alive.values()])
      for (const entry of before) {
        const place = left.indexOf(entry)
        if (place >= 0) left.splice(place, 1)
      }
      return left
    },
  }
}

function entries(alive) {
  const hasProc = existsSync('/proc/self/task')
  return [
    ...(hasProc ? readdirSync('/proc/self/task').map(() => 'a thread') : []),
    ...(hasProc ? readdirSync('/proc/self/fd').map(pathOf).filter(isCounted) : []),
    ...process.getActiveResourcesInfo().map(kind => `an active ${kind}`),
    ...alive.map(kind => `a ${kind}`),
    ...process
      .eventNames()
      .flatMap(name => process.listeners(name).map(() => `a listener to '${String(name)}'`)),
  ]
}

function pathOf(descriptor) {
  try {
    const path = readlinkSync(`/proc/self/fd/${descriptor}`)
    // Sockets and pipes have a number in their path.
    return `a descriptor of ${path.replace(/\[\d+\]/, '')}`
  } catch {
    return ''
  }
}

// Node 20 leaves a file open when its thread exits while the file is loaded.
function isCounted(path) {
  const isExcused = process.version.startsWith('v20.') && /\.m?js( \(deleted\))?$/.test(path)
  return path !== '' && !path.includes('/proc/') && !isExcused
}

async function settleDown() {
  const turn = () => new Promise(resolve => setImmediate(resolve))
  for (let turns = 0; turns < SETTLING_TURNS; turns++) await turn()
  // The program itself loads files for inline workers. These requests end soon.
  while (process.getActiveResourcesInfo().some(kind => kind.includes('Req'))) await turn()
}
