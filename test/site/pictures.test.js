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

test('the charts show the newest results of the benchmark', t => {
  const folder = mkdtempSync(join(tmpdir(), 'lido-charts-'))
  t.after(() => rmSync(folder, { recursive: true }))
  drawCharts(folder)
  const [drawn, kept] = [readAll(folder), readAll(join(docs, 'charts'))]
  assert.ok(Object.keys(drawn).length > 10)
  assert.deepEqual(Object.keys(kept), Object.keys(drawn), 'run `npm run docs`, and commit docs/charts')
  for (const name of Object.keys(drawn)) {
    assert.equal(kept[name], drawn[name], `${name} is old: run \`npm run docs\`, and commit docs/charts`)
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
