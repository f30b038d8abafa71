// Runs an example as its users do, and reads the table that it prints.
import assert from 'node:assert/strict'
import { fileURLToPath } from 'node:url'
import { runFile } from '../helpers/node-file.js'

export function runExample(name, ...args) {
  return runFile(fileURLToPath(new URL(`../../examples/${name}/main.js`, import.meta.url)), args)
}

// The rows of the table as cells, without the two header rows.
export function readRows(output) {
  const lines = output.split('\n').filter(line => line.startsWith('│'))
  return lines.slice(2).map(line => {
    const cells = line.split('│').slice(1, -1)
    return cells.map(cell => cell.trim())
  })
}

export async function expectTable(name, ways, ...args) {
  const { exitCode, output, errors } = await runExample(name, '--small', ...args)
  assert.equal(exitCode, 0, `${name} ended with ${exitCode}\n${output}\n${errors}`)
  const rows = readRows(output)
  assert.deepEqual(
    rows.map(([way]) => way),
    ways,
  )
  for (const row of rows) {
    assert.ok(row.length >= 7, `throughput, event loop delay and more: ${row}`)
    assert.ok(row.every(cell => cell !== ''))
  }
  assert.match(output, /^node v\d+\.\d+\.\d+, \d+ usable cores/m)
  assert.equal(output.match(/^=> \S.*\.$/gm)?.length, 1)
  assert.doesNotMatch(output, /NaN|undefined|Infinity/)
  return output
}
