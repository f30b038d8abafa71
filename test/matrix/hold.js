// A backend's part of the matrix. Which cases are played, how many there are, and why others are none, is told.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { played } from './played.js'

/** @param wise how many axes' values are combined in every way */
export function holdAgainst(backend, wise) {
  test(`${backend}: each task settles as the oracle says in every case, and nothing is left`, async t => {
    const { exitCode, output, errors } = await played('--wise', String(wise), '--backend', backend)
    for (const line of output.trimEnd().split('\n')) t.diagnostic(line)
    assert.equal(exitCode, 0, `${output}\n${errors}`)
    assert.match(output, /^\d{2,} cases played in .* 0 failed$/m)
  })
}
