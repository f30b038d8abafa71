// The first screen of README.md, and how far a reader has to go from there.
import assert from 'node:assert/strict'
import { existsSync, readFileSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { slugify } from '../../docs/.vitepress/links.js'

const root = fileURLToPath(new URL('../../', import.meta.url))
const read = file => readFileSync(join(root, file), 'utf8')
const readme = read('README.md')

/** The relative links of a page, from the root of the repository. */
function linksOf(file) {
  return [...read(file).matchAll(/\]\((?![a-z]+:|#)([^)#]+)(?:#([^)]+))?\)/g)].map(([, path, anchor]) => ({
    target: join(dirname(file), path).replaceAll('\\', '/'),
    anchor,
  }))
}

function hasHeading(file, anchor) {
  return [...read(file).matchAll(/^#+ (.+)$/gm)].some(([, heading]) => slugify(heading) === anchor)
}

test('every relative link of README.md leads to a file and a heading', () => {
  const links = linksOf('README.md')
  assert.ok(links.length > 30, `${links.length} links`)
  for (const { target, anchor } of links) {
    assert.ok(existsSync(join(root, target)), target)
    if (anchor !== undefined) assert.ok(hasHeading(target, anchor), `${target}#${anchor}`)
  }
})

test('the first screen has a sentence, three reasons, 12 lines of code in two files, and a picture', () => {
  const [first, forWhom] = readme.split(/^## .+$/m)
  const [, , sentence, reasons] = first.split('\n\n')
  assert.match(sentence, /^lido is a worker pool for Node\.js[^.]+[^.]*\.$/)
  assert.equal(reasons.match(/^- /gm).length, 3)
  assert.match(reasons, /piscina/)
  const [source] = [...first.matchAll(/<img src="([^"]+)"/g)].map(([, path]) => path)
  assert.ok(statSync(join(root, source)).size < 20_000)
  const files = [...first.matchAll(/^```js\n(.*?)^```$/gms)].map(([, code]) =>
    code.split('\n').filter(Boolean),
  )
  assert.equal(files.length, 2)
  assert.ok(files.flat().length <= 12, `${files.flat().length} lines`)
  assert.equal(forWhom.match(/^- /gm).length, 3)
})

test('the badges of README.md are true', () => {
  const manifest = JSON.parse(read('package.json'))
  const [, badges] = readme.split('\n\n')
  assert.equal(badges.match(/^\[!\[/gm).length, 5)
  assert.equal(manifest.dependencies, undefined)
  assert.equal(manifest.license, 'MIT')
  assert.match(read('LICENSE'), /MIT/)
  const workflow = /actions\/workflows\/([\w.]+)\/badge\.svg/.exec(badges)[1]
  assert.ok(existsSync(join(root, '.github/workflows', workflow)), workflow)
})

test('.ci/run runs the commands that README.md names for a fresh clone', () => {
  const commands = /^## Try it in a clone$.*?^```sh\n(.*?)^```$/ms.exec(readme)[1].trim().split('\n')
  const script = read('.ci/run')
    .split('\n')
    .filter(line => /^npm /.test(line))
  assert.deepEqual(script.slice(0, -1), commands)
  assert.equal(script.at(-1), 'npm run test:all')
})

describe('from README.md, two clicks lead to the answer', () => {
  const clicked = linksOf('README.md').map(({ target }) => target)
  const pages = clicked.filter(target => target.endsWith('.md'))
  const reachable = new Set([...clicked, ...pages.flatMap(page => linksOf(page).map(({ target }) => target))])

  for (const [question, page, answer] of [
    ['how to use TypeScript and Vitest', 'docs/guides/set-ups.md', /tsx.*Vitest/s],
    ['how to use Next.js and Nuxt', 'docs/guides/frameworks.md', /Turbopack/],
    ['how to show the progress', 'docs/guides/progress.md', /onProgress/],
    ['how to shut down', 'docs/guides/closing.md', /SIGTERM/],
    ['the meaning of an error code', 'docs/troubleshooting.md', /ERR_LIDO_QUEUE_FULL/],
    ['whether lido is faster', 'docs/when-a-pool-helps.md', /copied/],
    ['the figures of the benchmark', 'docs/benchmarks.md', /charts\//],
  ]) {
    test(`the page of ${page} tells ${question}`, () => {
      assert.ok(reachable.has(page), `no link within two clicks leads to ${page}`)
      assert.match(read(page), answer)
    })
  }
})
