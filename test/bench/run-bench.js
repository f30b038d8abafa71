// Runs the benchmark as its users do, and reads the JSON that it prints.
import assert from 'node:assert/strict'
import { fileURLToPath } from 'node:url'
import { runFile } from '../helpers/node-file.js'

const main = fileURLToPath(new URL('../../bench/main.js', import.meta.url))

export function runBench(...args) {
  return runFile(main, args)
}

export async function runJson(...args) {
  const { output, errors, exitCode } = await runBench('--quick', '--seconds', '0.02', '--json', ...args)
  assert.equal(exitCode, 0, errors + output)
  return JSON.parse(output)
}

export function assertSpread({ median, min, max, count }) {
  assert.ok(Number.isFinite(median) && min <= median && median <= max)
  assert.ok(count >= 1)
}
