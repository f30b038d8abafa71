// Facts of the machine and the moment, without which no figure means anything.
import os from 'node:os'

export function describeMachine() {
  return {
    node: process.versions.node,
    v8: process.versions.v8,
    platform: `${process.platform} ${process.arch}`,
    cpu: os.cpus()[0]?.model.trim() ?? 'unknown',
    cores: os.availableParallelism(),
    memoryGiB: Math.round(os.totalmem() / 2 ** 30),
    loadAverage: os.loadavg()[0],
  }
}
