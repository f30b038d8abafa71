// One list of tests that every backend must pass. A backend that behaves differently has a deviation: a reason, and where
// possible a test of its own that replaces the common one.
import assert from 'node:assert/strict'
import { describe, test as nodeTest } from 'node:test'
import { handler } from '../helpers/handler.js'
import { test } from '../helpers/pool-test.js'
import { deviations } from './deviations.js'
import { Journal } from './journal.js'
import { promises } from './promises/all.js'

export function holdAgainst(backend) {
  const own = deviations[backend]
  for (const [group, list] of Object.entries(promises)) {
    describe(`${group} (backend: ${backend})`, () => {
      for (const [title, body] of Object.entries(list)) {
        const deviation = own[title]
        if (deviation === undefined) hold(title, body)
        else if (deviation.instead === undefined) nodeTest(title, { skip: deviation.because }, () => {})
        else hold(deviation.instead, deviation.body)
      }
    })
  }

  test(`every deviation of the ${backend} backend names a test of the common list`, () => {
    const titles = new Set(Object.values(promises).flatMap(list => Object.keys(list)))
    for (const title of Object.keys(own)) assert.ok(titles.has(title), title)
  })

  function hold(title, body) {
    test(title, (open, t) =>
      body({
        backend,
        t,
        journal: new Journal(t),
        /** Opens a pool of one worker, unless the options say otherwise. */
        open: (options = {}) =>
          open({ filename: handler('conformant.js'), minWorkers: 1, maxWorkers: 1, backend, ...options }),
      }),
    )
  }
}
