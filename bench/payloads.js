// The payloads of the echo trials. `create(i)` returns the payload of task i. Small payloads are new for each task.
// Large payloads are built once, because building one costs as much as sending it. Each task copies them.
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

function createFields(index) {
  return {
    id: index,
    name: `Customer number ${index}`,
    isActive: index % 3 !== 0,
    balance: 17.25 * index,
    parentId: index % 4 === 0 ? null : index >> 2,
    tags: ['retail', 'north'],
  }
}

const recordCount = 45 // makes 10 KB of JSON
const records = {
  kind: 'customers',
  page: 1,
  items: Array.from({ length: recordCount }, (_, i) => createRecord(i)),
}
const text = 'It was a bright cold day in April. '.repeat(293).slice(0, 10_240)
const bytes = new Uint8Array(randomBytes(65_536))

export const payloads = {
  int: { label: 'int', create: i => i },
  pair: { label: '{a,b}', create: i => ({ a: i, b: i + 1 }) },
  'six-fields': { label: '6-field object', create: createFields },
  'object-10k': { label: '10 KB object', create: () => records },
  'string-10k': { label: '10 KB string', create: () => text },
  'bytes-64k': { label: '64 KB bytes', create: () => bytes },
}
