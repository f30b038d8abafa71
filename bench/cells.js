// What is measured: every payload, each with one caller and with 64. A cell is one of these pairs.
// `create(i)` gives the payload of task i. The small ones are new for each task; building a big one anew would
// cost as much as sending it, so those are built once and copied by every task.
import { randomBytes } from 'node:crypto'

function createRecord(index) {
  return {
    id: 1000 + index,
    name: `Customer number ${index}`,
    email: `customer.${index}@example.com`,
    isActive: index % 3 !== 0,
    balance: 17.25 * index,
    parentId: index % 4 === 0 ? null : 1000 + (index >> 2),
    tags: ['retail', `region-${index % 7}`],
    address: { street: `${index} Long Street`, city: 'Springfield', zip: String(10_000 + index) },
  }
}

const recordCount = 45 // makes 10 KB of JSON
const records = {
  kind: 'customers',
  page: 1,
  items: Array.from({ length: recordCount }, (_, i) => createRecord(i)),
}
const bytes = new Uint8Array(randomBytes(65_536))

export const payloads = [
  { id: 'int', label: 'int', create: i => i },
  { id: 'pair', label: '{a,b}', create: i => ({ a: i, b: i + 1 }) },
  { id: 'object-10k', label: '10 KB object', create: () => records },
  { id: 'bytes-64k', label: '64 KB bytes', create: () => bytes },
]

const modes = [
  { id: 'one', label: 'one by one', inFlight: 1 },
  { id: '64', label: '64 in flight', inFlight: 64 },
]

export const cells = payloads.flatMap(payload =>
  modes.map(mode => ({
    id: `${payload.id}/${mode.id}`,
    label: `${payload.label}, ${mode.label}`,
    inFlight: mode.inFlight,
    create: payload.create,
  })),
)

/** The cells named by `names`: `int/64` is one cell, `int` both of a payload, `64` all with 64 in flight. */
export function chooseCells(names) {
  for (const name of names) {
    if (!cells.some(cell => isNamed(cell, name))) {
      throw new RangeError(`No row '${name}'. Rows: ${cells.map(cell => cell.id).join(', ')}`)
    }
  }
  return names.length === 0 ? cells : cells.filter(cell => names.some(name => isNamed(cell, name)))
}

function isNamed(cell, name) {
  return cell.id === name || cell.id.split('/').includes(name)
}
