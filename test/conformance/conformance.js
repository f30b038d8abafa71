// One list of promises, held against each backend. A backend that keeps one in another way has a deviation: a reason, and
// where there is something to hold it to, a promise of its own.
import assert from 'node:assert/strict'
import { describe, test as nodeTest } from 'node:test'
import { handler } from '../helpers/handler.js'
import { test } from '../helpers/pool-test.js'
import { deviations } from './deviations.js'
import { Journal } from './journal.js'
import { contexts } from './promises/context.js'
import { endings } from './promises/endings.js'
import { errors } from './promises/errors.js'
import { limits } from './promises/limits.js'
import { loading } from './promises/loading.js'
import { renewal } from './promises/renewal.js'
import { resizing } from './promises/resizing.js'
import { surroundings } from './promises/surroundings.js'
import { values } from './promises/values.js'

const promises = { values, errors, limits, loading, endings, renewal, resizing, surroundings, contexts }

export function holdAgainst(backend) {
  const own = deviations[backend]
  for (const [group, list] of Object.entries(promises)) {
    describe(`${backend}: ${group}`, () => {
      for (const [title, body] of Object.entries(list)) {
        const deviation = own[title]
        if (deviation === undefined) hold(title, body)
        else if (deviation.instead === undefined) nodeTest(title, { skip: deviation.because }, () => {})
        else hold(`${deviation.instead} (not: ${title}, because ${deviation.because})`, deviation.body)
      }
    })
  }

  test(`${backend}: every deviation is from a promise in the list`, () => {
    const titles = new Set(Object.values(promises).flatMap(list => Object.keys(list)))
    for (const title of Object.keys(own)) assert.ok(titles.has(title), title)
  })

  function hold(title, body) {
    test(title, (open, t) =>
      body({
        backend,
        t,
        journal: new Journal(t),
        /** A pool of one worker, unless said otherwise. */
        open: (options = {}) =>
          open({ filename: handler('conformant.js'), minWorkers: 1, maxWorkers: 1, backend, ...options }),
      }),
    )
  }
}
