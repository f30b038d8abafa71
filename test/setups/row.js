// One row of the table of set-ups. A row is a test. `npm run setups` also runs heavy rows, and collects the table.
import { appendFileSync } from 'node:fs'
import { test } from 'node:test'

const { LIDO_SETUPS_ALL: all, LIDO_SETUPS_TABLE: table } = process.env

/**
 * @param setup the name of the set-up
 * @param promise what lido does in it: the title of the test, with the name
 * @param remedy what a user must do
 * @param body resolves with the versions that it tried
 */
export function row(setup, promise, remedy, body, { timeout = 120_000 } = {}) {
  test(`${setup}: ${promise}`, { timeout }, async t => {
    let line = { setup, tried: '?', result: 'FAILED', remedy }
    try {
      line = { ...line, tried: await body(t), result: promise }
    } finally {
      if (table !== undefined) appendFileSync(table, `${JSON.stringify(line)}\n`)
    }
  })
}

/** A row that takes minutes, or that installs much. Only `npm run setups` runs it. */
export function heavyRow(setup, promise, remedy, body) {
  if (all !== undefined) row(setup, promise, remedy, body, { timeout: 600_000 })
}
