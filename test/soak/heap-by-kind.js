// Splits the heap into compiled code and the memory that the program holds. V8 compiles more and more functions over thousands of
// exits of workers. That growth is not a leak. A heap snapshot shows both parts.
// As a program (`node heap-by-kind.js FILE`) this file adds up the sizes in a snapshot. The reading of a snapshot takes memory,
// which the measured process must not hold.
import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { writeHeapSnapshot } from 'node:v8'

const ownFile = fileURLToPath(import.meta.url)

/** Buffers are outside the heap and are measured separately. */
const BUFFERS = 'system / JSArrayBufferData'
/** Weak lists. Nearly all of them belong to an object's shape and list the compiled code that depends on it. */
const CODE_LISTS = 'system / WeakArrayList'

if (process.argv[1] === ownFile) {
  process.stdout.write(JSON.stringify(addUp(JSON.parse(readFileSync(process.argv[2], 'utf8')))))
}

/** Returns bytes: `compiled` includes V8's notes about functions, `held` is the memory of the program. Collects garbage first. */
export function heapByKind() {
  const folder = mkdtempSync(path.join(tmpdir(), 'lido-soak-'))
  try {
    const file = writeHeapSnapshot(path.join(folder, 'host.heapsnapshot'))
    return JSON.parse(execFileSync(process.execPath, [ownFile, file], { encoding: 'utf8' }))
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

function addUp({ snapshot: { meta }, nodes, strings }) {
  const [kinds] = meta.node_types
  const width = meta.node_fields.length
  const [kindAt, nameAt, sizeAt] = ['type', 'name', 'self_size'].map(field => meta.node_fields.indexOf(field))
  const sum = { compiled: 0, held: 0 }
  for (let node = 0; node < nodes.length; node += width) {
    const kind = kinds[nodes[node + kindAt]]
    const name = strings[nodes[node + nameAt]]
    const isCompiled = kind === 'code' || (kind === 'hidden' && name === CODE_LISTS)
    if (name !== BUFFERS) sum[isCompiled ? 'compiled' : 'held'] += nodes[node + sizeAt]
  }
  return sum
}
