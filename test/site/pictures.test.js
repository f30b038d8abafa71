// The charts and pictures of the documentation.
import assert from 'node:assert/strict'
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { drawCharts } from '../../docs/.vitepress/charts.js'

const docs = fileURLToPath(new URL('../../docs/', import.meta.url))

function readAll(folder) {
  return Object.fromEntries(readdirSync(folder).map(name => [name, readFileSync(join(folder, name), 'utf8')]))
}

test('the charts and the picture of the speed show the newest run of the benchmark', t => {
  const folder = mkdtempSync(join(tmpdir(), 'lido-charts-'))
  t.after(() => rmSync(folder, { recursive: true }))
  drawCharts(folder)
  const [drawn, kept] = [readAll(join(folder, 'charts')), readAll(join(docs, 'charts'))]
  const speed = 'pictures/speed.svg'
  drawn[speed] = readFileSync(join(folder, speed), 'utf8')
  kept[speed] = readFileSync(join(docs, speed), 'utf8')
  assert.ok(Object.keys(drawn).length > 10)
  assert.deepEqual(
    Object.keys(kept),
    Object.keys(drawn),
    'run `npm run docs:figures`, and commit docs/charts',
  )
  for (const name of Object.keys(drawn)) {
    assert.equal(kept[name], drawn[name], `${name} is old: run \`npm run docs:figures\`, and commit it`)
  }
})

test('a chart prints how lido compares with each pool, and says where lido is level or behind', () => {
  const charts = readAll(join(docs, 'charts'))
  for (const [name, chart] of Object.entries(charts)) {
    const lines = [...chart.matchAll(/<rect /g)].length
    const compared = [...chart.matchAll(/>(lido × [\d.,]+|(?:level|ahead|behind)(?: × [\d.]+)?)</g)].map(
      ([, words]) => words,
    )
    assert.ok([lines, lines - 1].includes(compared.length), `${name}: ${compared.length} of ${lines} lines`)
    const summary = /<text [^>]*font-weight[^>]*>([^<]*\.)<\/text>/.exec(chart)?.[1] ?? ''
    assert.match(summary, /lido is (ahead|level|behind)/, name)
    if (summary.includes('level')) assert.ok(compared.includes('level'), name)
    if (summary.includes('behind'))
      assert.ok(
        compared.some(words => words.startsWith('behind')),
        name,
      )
  }
})

test('a page shows each chart and each picture, and tells its content in words', () => {
  const pages = readdirSync(docs, { recursive: true })
    .filter(name => name.endsWith('.md'))
    .map(name => readFileSync(join(docs, name), 'utf8'))
    .join('\n')
  const readme = readFileSync(join(docs, '..', 'README.md'), 'utf8')
  const shown = [...pages.matchAll(/!\[([^\]]+)\]\((?:\.\.\/)?([\w/-]+\.svg)\)/g)]
  for (const folder of ['charts', 'pictures']) {
    for (const name of readdirSync(join(docs, folder))) {
      const path = `${folder}/${name}`
      if (readme.includes(`<img src="docs/${path}"`)) continue
      const texts = shown.filter(([, , target]) => target === path).map(([, text]) => text)
      assert.ok(texts.length > 0, `no page shows ${path}`)
      for (const text of texts) assert.ok(text.length > 30, `${path}: ${text}`)
    }
  }
})
