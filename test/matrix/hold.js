// Tests the cases of one backend. The diagnostics show the number of cases and the reasons for excluded combinations.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { played } from './played.js'

/** @param wise the cases contain every combination of the values of so many axes */
export function holdAgainst(backend, wise) {
  test(`each task settles as expected in every case of the backend '${backend}', and nothing is left`, async t => {
    const { exitCode, output, errors } = await played('--wise', String(wise), '--backend', backend)
    for (const line of output.trimEnd().split('\n')) t.diagnostic(line)
    assert.equal(exitCode, 0, `${output}\n${errors}`)
    assert.match(output, /^\d{2,} cases played in .* 0 failed$/m)
  })
}
