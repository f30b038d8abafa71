// Runs the benchmark as its users do, and reads the JSON that it prints.
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'

const mainPath = fileURLToPath(new URL('../../bench/main.js', import.meta.url))
const limitMs = 120_000

export async function runBench(...args) {
  const child = spawn(process.execPath, [mainPath, ...args], { stdio: ['ignore', 'pipe', 'pipe'] })
  const limit = setTimeout(() => child.kill(), limitMs)
  const [output, errors, [exitCode]] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, 'close'),
  ])
  clearTimeout(limit)
  return { output, errors, exitCode }
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
