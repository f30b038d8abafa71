// What the program holds on the heap, apart from what V8 has compiled of it: V8 compiles one function after the other over
// thousands of a worker's ends, and that grows and is nobody's leak. A heap snapshot tells the two apart.
// As a program (`node heap-by-kind.js FILE`) it adds up a snapshot's sizes: reading one takes memory that the measured
// process is not to hold.
import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { writeHeapSnapshot } from 'node:v8'

const ownFile = fileURLToPath(import.meta.url)

/** Outside the heap, and figures of their own. */
const BUFFERS = 'system / JSArrayBufferData'
/** Weak lists, nearly all of them kept at an object's shape: which compiled code relies on it. */
const CODE_LISTS = 'system / WeakArrayList'

if (process.argv[1] === ownFile) {
  process.stdout.write(JSON.stringify(addUp(JSON.parse(readFileSync(process.argv[2], 'utf8')))))
}

/** Bytes: `compiled`, with what V8 notes about functions for it, and `held` by the program. Garbage is collected for it. */
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
