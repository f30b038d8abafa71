// CPU time of the host, which is the process's main thread, by the best means that this Node has.
// `scope` says what the time covers: 'main thread', or 'process' where the system measures no single thread.
import { readFileSync } from 'node:fs'

const schedstatPath = `/proc/self/task/${process.pid}/schedstat`

export function createCpuClock() {
  if (typeof process.threadCpuUsage === 'function') {
    return { scope: 'main thread', readMicros: () => sum(process.threadCpuUsage()) }
  }
  if (hasSchedstat()) return { scope: 'main thread', readMicros: readSchedstat }
  return { scope: 'process', readMicros: () => sum(process.cpuUsage()) }
}

function sum({ user, system }) {
  return user + system
}

// Linux: the first word is the thread's time on a core, in nanoseconds. The main thread's id is the process's.
function readSchedstat() {
  return Number(readFileSync(schedstatPath, 'utf8').split(' ')[0]) / 1000
}

function hasSchedstat() {
  try {
    return readSchedstat() > 0
  } catch {
    return false
  }
}
