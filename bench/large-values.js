// The large results of bar P14. `create(bytes)` makes a value of about that size, as JSON, as text or in memory.

export const largeValues = {
  objects: {
    label: 'objects',
    create: bytes => Array.from({ length: Math.ceil(bytes / 150) }, (_, index) => createRecord(index)),
  },
  strings: {
    label: 'strings',
    create: bytes => Array.from({ length: Math.ceil(bytes / 50) }, (_, index) => createLine(index)),
  },
  string: { label: 'one string', create: bytes => 'x'.repeat(bytes - 1).concat('y') },
  bytes: { label: 'one Uint8Array', create: bytes => new Uint8Array(bytes).fill(7) },
}

/** A short text to compare two results. A full comparison would take too long between two measurements. */
export function outlineOf(value) {
  const last = value.at(-1)
  return JSON.stringify([value.length, typeof last === 'object' ? last : String(last)])
}

function createRecord(index) {
  return {
    id: index,
    name: `person ${index} of many`,
    email: `person-${index}@example.com`,
    score: index * 1.37,
    active: index % 2 === 0,
    tags: ['one', `group-${index % 7}`, 'some other tag'],
    address: { city: 'Somewhere', code: index % 99_999 },
  }
}

function createLine(index) {
  return `line ${index} of a long text, with some words in it`.padEnd(50, '.')
}
