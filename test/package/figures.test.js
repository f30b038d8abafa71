// The figures of the pages are those of the run in bench/results.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { fillFigures, listPages, renderFigure, withoutFigures } from '../../docs/.vitepress/figures.js'
import { gainOver, readRun, roundRatio, verdictOf } from '../../docs/.vitepress/results.js'

const root = fileURLToPath(new URL('../../', import.meta.url))
const read = page => readFileSync(join(root, page), 'utf8')
const run = readRun()

describe('the pages', () => {
  for (const page of listPages().filter(page => read(page).includes('<!-- figure'))) {
    test(`${page} has the figures of the run`, () => {
      const text = read(page)
      assert.equal(fillFigures(text, run), text, 'run `npm run docs:figures`, and commit the page')
    })
  }

  // These figures are settings of the benchmark, bars, or facts of the code. No run changes them.
  const stated = {
    'docs/benchmarks.md': ['1 ms', '10 ms', '200 ms', '5 %', '100 %', '10 times'],
    'docs/when-a-pool-helps.md': ['500 ms', '1 ms', '10 ms'],
    'docs/performance.md': ['10 ms', '3 %', '5 %', '2 ms', '17 MiB', '4 MiB'],
    'README.md': ['30 s', '100 ms', '1 ms', '10 ms'],
  }
  for (const [page, allowed] of Object.entries(stated)) {
    // README.md takes part as soon as it has one marked figure.
    const skip = page === 'README.md' && !read(page).includes('<!-- figure')
    test(`${page} states no figure of speed outside of the marks`, { skip }, () => {
      const prose = withoutFigures(read(page)).replace(/^```.*?^```$|\]\([^)]*\)/gms, '')
      const figures = [...prose.matchAll(/\b\d[\d.,]*(?: to \d[\d.,]*)? ?(?:µs|ms|s|%|times|×|MiB)(?![\w])/g)]
      assert.deepEqual(
        figures.map(([figure]) => figure).filter(figure => !allowed.includes(figure)),
        [],
        'mark the figure as bench/README.md says, or add it to the list if no run changes it',
      )
    })
  }
})

describe('fillFigures()', () => {
  const fill = text => fillFigures(text, run)

  test('a figure gets the text of the run, whatever stood there', () => {
    const { median } = run.rows.find(({ id }) => id === 'P1').pools.piscina.ratio
    const expected = `It is <!-- figure P1 piscina -->${roundRatio(median)}<!-- /figure --> times.`
    assert.equal(fill('It is <!-- figure P1 piscina -->99999<!-- /figure --> times.'), expected)
    assert.equal(fill('It is <!-- figure P1 piscina --><!-- /figure --> times.'), expected)
  })

  test('a row without a rate gives the figure of the pool, unless the name asks for the ratio', () => {
    assert.match(renderFigure('P6-spare lido', run), /^[\d.]+ µs$/)
    assert.match(renderFigure('P6-spare piscina', run), /^[\d.]+ µs$/)
    assert.match(renderFigure('P6-spare piscina ratio', run), /^[\d.]+$/)
  })

  test('a table stands between blank lines', () => {
    const text = fill('<!-- figure table of P9 P10 for lido piscina -->\n<!-- /figure -->')
    const [first, blank, head, line, ...rows] = text.split('\n')
    assert.equal(first, '<!-- figure table of P9 P10 for lido piscina -->')
    assert.equal(blank, '')
    assert.match(head, /^\| {2}\| lido \| piscina [\d.]+ \|$/)
    assert.equal(line, '|---|---|---|')
    assert.deepEqual(rows.slice(2), ['', '<!-- /figure -->'])
  })

  for (const [title, text, message] of [
    ['an unknown name', 'a <!-- figure speed -->1<!-- /figure -->', /Unknown figure 'speed'/],
    ['an unknown row', 'a <!-- figure P99 lido -->1<!-- /figure -->', /no row 'P99'/],
    ['an unknown pool', 'a <!-- figure P1 threads -->1<!-- /figure -->', /no figure of 'threads'.*piscina/],
    ['a ratio of lido to itself', 'a <!-- figure P1 lido ratio -->1<!-- /figure -->', /no ratio/],
    ['a figure without an end', 'a <!-- figure P1 lido -->1', /no end/],
    ['an end without a figure', 'a 1<!-- /figure -->', /no end/],
    ['a figure that starts a line', 'a\n<!-- figure P1 lido -->1<!-- /figure --> b', /starts a line/],
  ]) {
    test(`fillFigures() rejects ${title}`, () => {
      assert.throws(() => fill(text), message)
    })
  }
})

describe('how lido compares', () => {
  const spread = median => ({ median, min: median * 0.9, max: median * 1.1, count: 3 })
  const row = (bars, unit, ratio) => ({ bars, unit, pools: { piscina: { ratio: spread(ratio) } } })

  test('gainOver() turns the ratio of a time around, and not that of a rate', () => {
    assert.equal(gainOver(row([], 'per second', 4), 'piscina').median, 4)
    assert.equal(gainOver(row([{ atLeast: 0.9 }], 'share', 4), 'piscina').median, 4)
    assert.equal(gainOver(row([{ atMost: 1 }], 'µs', 4), 'piscina').median, 0.25)
    const { min, max } = gainOver(row([], 'ms', 4), 'piscina')
    assert.ok(min < 0.25 && max > 0.25)
  })

  test('gainOver() returns null for a pool without a figure', () => {
    assert.equal(gainOver({ bars: [], unit: 'ms', pools: { piscina: null } }, 'piscina'), null)
    assert.equal(gainOver({ bars: [], unit: 'ms', pools: {} }, 'piscina'), null)
  })

  test('verdictOf() calls differences of at most 5 % level', () => {
    const verdicts = [0.94, 0.95, 1, 1.05, 1.06].map(median => verdictOf({ median }))
    assert.deepEqual(verdicts, ['behind', 'level', 'level', 'level', 'ahead'])
  })

  test('roundRatio() keeps two significant digits', () => {
    const ratios = [165, 33.4, 9.97, 9.62, 1.04, 0.997, 0.934, 0.0301]
    assert.deepEqual(ratios.map(roundRatio), ['170', '33', '10', '9.6', '1.0', '1.0', '0.93', '0.030'])
  })
})
