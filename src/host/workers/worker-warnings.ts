// The warnings about single workers.
import type { ResourceLimits } from 'node:worker_threads'
import type { HeapExcess } from '../../shared/messages/messages.js'

/** @param given the option `resourceLimits` */
export function limitsHeap(given: ResourceLimits | undefined): boolean {
  if (given === undefined) return false
  const { maxOldGenerationSizeMb: old, maxYoungGenerationSizeMb: young } = given
  return [old, young].some(limit => limit !== undefined && limit !== Number.POSITIVE_INFINITY)
}

/** The limit of the old generation in MB. `null`: none. */
export function heapLimitOf(given: ResourceLimits | undefined): number | null {
  const limit = given?.maxOldGenerationSizeMb ?? Number.POSITIVE_INFINITY
  return Number.isFinite(limit) ? limit : null
}

let hasWarnedOfHeap = false

/** Once for each thread of the program: a flag or a runtime concerns all of its pools. */
export function warnOfHeap(excess: HeapExcess): void {
  if (hasWarnedOfHeap) return
  hasWarnedOfHeap = true
  process.emitWarning(`The heap limit of the option resourceLimits does not hold. ${reasonOf(excess)}`, {
    type: 'LidoWarning',
    code: 'LIDO_HEAP_LIMIT',
  })
}

function reasonOf(excess: HeapExcess): string {
  if (excess === 'ignored') return 'This runtime ignores it. Limit the memory by maxWorkerMemoryMb.'
  const { askedMb, allowedMb } = excess
  return `It asks for ${Math.round(askedMb)} MiB with the young generation, and the runtime allows ${Math.round(allowedMb)} MiB. In threads, a flag of the program such as --max-old-space-size wins (also in NODE_OPTIONS). Remove the flag, use backend: 'process', or limit the memory by maxWorkerMemoryMb.`
}

/** @param requests their names */
export function warnOfUnfinished(workerId: number, requests: readonly string[]): void {
  process.emitWarning(
    `Worker ${workerId} stopped before requests were finished that its handlers started and did not await: ${[...new Set(requests)].join(', ')}. Await them in the handler, or in an exported teardown(). The pool warns once.`,
    { type: 'LidoWarning', code: 'LIDO_UNFINISHED_WORK' },
  )
}
