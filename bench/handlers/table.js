// The handlers of the shared-value trial: one looks a key up in a shared table, the other in a table of its own.
let own = null

export function createTable(entries) {
  const table = {}
  for (let index = 0; index < entries; index += 1) {
    table[`key ${index}`] = { score: index, name: `name ${index}`, text: 'x'.repeat(200) }
  }
  return table
}

export function makeOwn(entries) {
  own = createTable(entries)
}

export function lookUpOwn({ key }) {
  return own[key].score
}

export function lookUp({ table, key }) {
  return table[key].score
}
