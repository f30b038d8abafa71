// Builds the site of the documentation, checks its links, and opens every page in a browser.
import assert from 'node:assert/strict'
import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { after, before, describe, test } from 'node:test'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { chromium } from 'playwright-core'
import { repositoryUrl } from '../../docs/.vitepress/package-facts.js'
import { isListedElsewhere, linkTo, pageOf, sidebar } from '../../docs/.vitepress/pages.js'
import { searchOptions } from '../../docs/.vitepress/search.js'
import { browserArguments, browserPath, noBrowser } from './browser.js'
import { questions } from './questions.js'
import { fileAt, serveSite, site } from './server.js'

const root = fileURLToPath(new URL('../../', import.meta.url))
const requireOfVitePress = createRequire(import.meta.resolve('vitepress'))
const entities = { '&amp;': '&', '&lt;': '<', '&gt;': '>', '&quot;': '"', '&#39;': "'" }

function filesIn(folder) {
  return readdirSync(folder, { recursive: true })
    .map(name => name.replaceAll('\\', '/'))
    .filter(name => statSync(join(folder, name)).isFile())
    .sort()
}

const read = name => readFileSync(join(site, name), 'utf8')

/** The values of an attribute in a page. */
function attributes(html, name) {
  return [...html.matchAll(new RegExp(`<[^>]*\\s${name}="([^"]*)"`, 'g'))].map(([, value]) =>
    value.replace(/&(amp|lt|gt|quot|#39);/g, entity => entities[entity]),
  )
}

/** The pages of modules list these pages. */
const isTypePage = page => page.startsWith('types/') && isListedElsewhere(page.replace(/html$/, 'md'))

/** The links inside of the text of a page. */
function linksOf(page) {
  const [, text] = read(page).split(/<main[^>]*>/)
  return attributes(text ?? '', 'href').filter(link => link.startsWith('/'))
}

let pages

before(async () => {
  const build = spawn(process.execPath, ['docs/.vitepress/build.js'], {
    cwd: root,
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const [output, errors, [exitCode]] = await Promise.all([
    text(build.stdout),
    text(build.stderr),
    once(build, 'close'),
  ])
  assert.equal(exitCode, 0, output + errors)
  pages = filesIn(site).filter(name => name.endsWith('.html') && name !== '404.html')
})

test('every page of docs is a page of the site and a link of the sidebar', () => {
  const written = filesIn(join(root, 'docs')).filter(name => /^[^.[]*\.md$/.test(name))
  assert.ok(written.length > 60, `${written.length} pages`)
  const inSidebar = attributes(/<aside class="VPSidebar".*?<\/aside>/s.exec(read('start.html'))[0], 'href')
  for (const name of written) {
    const page = pageOf(`docs/${name}`)
    assert.ok(pages.includes(page.replace(/md$/, 'html')), `${name} is not built`)
    if (page === 'index.md' || isListedElsewhere(page)) continue
    assert.ok(inSidebar.includes(linkTo(page)), `${name} is not in the sidebar`)
  }
})

test('the sidebar has titles of at most four words, and groups for every guide and recipe', () => {
  const sections = sidebar()
  const titlesOf = items => items.flatMap(({ text, items = [] }) => [text, ...titlesOf(items)])
  assert.deepEqual(
    titlesOf(sections).filter(title => title.split(/\s+/).length > 4),
    [],
  )
  for (const title of ['Guides', 'Recipes']) {
    const { items } = sections.find(({ text }) => text === title)
    assert.ok(items.length > 3, `${title}: ${items.length} groups`)
    assert.deepEqual(
      items.filter(({ items }) => items === undefined).map(({ link }) => link),
      [],
      'pages without a group in docs/.vitepress/pages.js',
    )
  }
})

test('the page of each module links its types and its reference', () => {
  const modules = pages.filter(page => /^types\/lido\/(\w+\/)?index\.html$/.test(page))
  assert.ok(modules.length > 10, `${modules.length} modules`)
  const linked = new Set(pages.flatMap(page => linksOf(page).map(link => fileAt(link))))
  for (const page of pages.filter(page => page.startsWith('types/'))) assert.ok(linked.has(page), page)
  for (const page of modules) {
    const toReference = linksOf(page).filter(link => link.startsWith('/reference/'))
    assert.ok(toReference.length > 0, `${page} links no page of the reference`)
    for (const link of toReference) {
      const back = linksOf(fileAt(link)).map(link => fileAt(link))
      assert.ok(back.includes(page), `${link} does not link ${page}`)
    }
  }
})

test('the programs of the home page print the result that the page shows', t => {
  const folder = mkdtempSync(join(root, 'build', 'home-'))
  t.after(() => rmSync(folder, { recursive: true }))
  const home = readFileSync(join(root, 'docs', 'index.md'), 'utf8')
  const programs = [...home.matchAll(/^```js\n\/\/ ([\w.]+)\n(.*?)^```$/gms)]
  for (const [, name, code] of programs) writeFileSync(join(folder, name), code)
  const shown = /console\.log\(.*\)\n\/\/ (.*)$/m.exec(home)[1]
  const printed = execFileSync(process.execPath, [join(folder, 'main.mjs')], { encoding: 'utf8' })
  assert.equal(printed.trim(), shown)
})

test('the home page shows the version, the licence, and links to the repository and the changelog', () => {
  const { version, license } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
  const html = read('index.html')
  assert.ok(html.includes(`>${version}<`), version)
  assert.ok(html.includes(`${license} licence`))
  const links = attributes(html, 'href')
  for (const link of [repositoryUrl, '/maintainers/changelog.html', '/start.html']) {
    assert.ok(links.includes(link), link)
  }
})

test('a cell with a mark in the comparison has a class for its colour, and its row has a name', () => {
  const html = read('comparison.html')
  const table = /<table[^>]* class="marks".*?<\/table>/s.exec(html)[0]
  assert.match(table, /<th scope="row"><a href="#worker-threads">/)
  for (const [sign, name] of [
    ['✓', 'yes'],
    ['◐', 'partly'],
    ['✗', 'no'],
  ]) {
    const cell = new RegExp(`<td class="${name}"><span aria-hidden="true">${sign}</span> ${name}</td>`)
    assert.match(table, cell)
  }
})

test('every link of the site leads to a file, and every anchor to an element', () => {
  const ids = new Map(pages.map(page => [page, new Set(attributes(read(page), 'id'))]))
  let checked = 0
  const dead = []
  for (const page of pages) {
    const html = read(page)
    for (const link of [...attributes(html, 'href'), ...attributes(html, 'src')]) {
      const url = new URL(link, `http://localhost/${page}`)
      if (url.host !== 'localhost') continue
      checked++
      const file = fileAt(url.href)
      const anchor = decodeURIComponent(url.hash.slice(1))
      const isDead = ids.has(file)
        ? anchor !== '' && !ids.get(file).has(anchor)
        : !existsSync(join(site, file))
      if (isDead) dead.push(`${page}: ${link}`)
    }
  }
  assert.ok(checked > 1000, `${checked} links`)
  assert.deepEqual(dead, [])
})

test('llms.txt lists every page as Markdown but single types, and llms-full.txt contains the pages for users', () => {
  const listed = [...read('llms.txt').matchAll(/\]\((\/[^)]+)\)$/gm)].map(([, address]) => fileAt(address))
  const expected = pages.map(page => page.replace(/html$/, 'md')).filter(page => !isTypePage(page))
  assert.deepEqual(listed.sort(), expected.sort())
  const full = read('llms-full.txt')
  for (const page of listed) {
    const markdown = read(page)
    const links = [...markdown.matchAll(/\]\((\/[^)#\s]+)/g)].map(([, address]) => address)
    for (const link of links) assert.ok(existsSync(join(site, fileAt(link))), `${page}: ${link}`)
    const isForUsers = !/^(types|design|maintainers)\/|^(faults|performance)\.md/.test(page)
    assert.equal(full.includes(markdown.trim()), isForUsers, page)
  }
})

/** The index and the options of the search that the site gives to the browser. */
async function loadSearch() {
  const name = filesIn(join(site, 'assets', 'chunks')).find(file => file.startsWith('@localSearchIndexroot'))
  const { default: index } = await import(pathToFileURL(join(site, 'assets', 'chunks', name)))
  const { default: MiniSearch } = await import(pathToFileURL(requireOfVitePress.resolve('minisearch')))
  return MiniSearch.loadJSON(index, {
    fields: ['title', 'titles', 'text'],
    storeFields: ['title', 'titles'],
    ...searchOptions.options,
    searchOptions: searchOptions.searchOptions,
  })
}

test('the search answers each question with one of its first three results', async () => {
  const search = await loadSearch()
  assert.ok(questions.length >= 24, `${questions.length} questions`)
  const unanswered = questions.flatMap(([question, answer]) => {
    const found = search.search(question).slice(0, 3)
    if (found.some(({ id }) => id.startsWith(`/${answer}`))) return []
    return [`${question}: ${found.map(({ id }) => id).join(' ')}, not ${answer}`]
  })
  assert.deepEqual(unanswered, [])
})

test('the search finds the reference of a name before its types', async () => {
  const search = await loadSearch()
  for (const name of ['closeTimeout', 'QueueFullError', 'WorkerView', 'runFor', 'PriorityQueue']) {
    const ids = search.search(name).map(({ id }) => id)
    const [reference, types] = ['/reference/', '/types/'].map(start =>
      ids.findIndex(id => id.startsWith(start)),
    )
    assert.ok(reference !== -1 && (types === -1 || reference < types), `${name}: ${ids.slice(0, 5)}`)
  }
})

describe('in a browser', () => {
  const needed = { skip: browserPath === undefined && noBrowser }
  let browser
  let server
  let address

  before(async () => {
    if (browserPath === undefined) return
    server = await serveSite()
    address = server.address
    browser = await chromium.launch({ executablePath: browserPath, args: browserArguments })
  })

  after(async () => {
    await browser?.close()
    server?.close()
  })

  /** Opens a tab that notes every problem. */
  async function openTab(size) {
    const context = await browser.newContext({ viewport: size, colorScheme: 'light' })
    // The site then loads no pages in advance.
    await context.addInitScript(() => {
      Object.defineProperty(navigator, 'connection', { value: { saveData: true } })
    })
    const tab = await context.newPage()
    const problems = []
    const note = problem => problems.push(`${new URL(tab.url()).pathname}: ${problem}`)
    tab.on('console', message => message.type() === 'error' && note(message.text()))
    tab.on('pageerror', error => note(error.message))
    tab.on('response', response => response.status() >= 400 && note(`${response.status()} ${response.url()}`))
    tab.on('requestfailed', request => note(`${request.failure().errorText} ${request.url()}`))
    return { tab, problems }
  }

  /** Elements beyond the right edge of the screen that no ancestor scrolls. */
  function findWideElements() {
    if (document.documentElement.scrollWidth <= window.innerWidth) return []
    const scrolls = element =>
      element !== null &&
      (getComputedStyle(element).overflowX !== 'visible' || scrolls(element.parentElement))
    return [...document.querySelectorAll('.VPContent *')]
      .filter(element => element.getBoundingClientRect().right > window.innerWidth + 1)
      .filter(element => !scrolls(element.parentElement))
      .map(element => `${element.tagName} ${element.className} ${element.textContent.slice(0, 60)}`)
  }

  test(
    'every page opens without an error, and fits on a phone; of pages of types, one in ten',
    needed,
    async () => {
      const tried = pages.filter((page, index) => !isTypePage(page) || index % 10 === 0)
      const left = [...tried]
      const opened = []
      async function openPages() {
        const { tab, problems } = await openTab({ width: 390, height: 844 })
        for (let page = left.pop(); page !== undefined; page = left.pop()) {
          await tab.goto(`${address}/${page}`)
          await tab.waitForFunction(() => document.querySelector('#app').__vue_app__ !== undefined)
          const wide = await tab.evaluate(findWideElements)
          problems.push(...wide.map(element => `${page}: wider than the screen: ${element}`))
          const title = await tab.locator('.vp-doc h1').first().innerText()
          if (title.length > 1) opened.push(page)
        }
        return problems
      }
      const problems = await Promise.all([openPages(), openPages()])
      assert.deepEqual(problems.flat(), [])
      assert.deepEqual(opened.sort(), tried.sort())
    },
  )

  test('the search finds a page by a word of its text', needed, async () => {
    const { tab, problems } = await openTab({ width: 1280, height: 800 })
    await tab.goto(`${address}/start.html`)
    await tab.locator('.DocSearch-Button').first().click()
    await tab.locator('#localsearch-input').fill('closeTimeout')
    const result = tab.locator('a.result[href^="/guides/closing.html"]').first()
    await result.click()
    await tab.waitForURL(/\/guides\/closing\.html/)
    await tab.locator('h1', { hasText: 'Close a pool' }).waitFor()
    assert.deepEqual(problems, [])
  })

  test('the switch in the top bar turns the dark mode on and off', needed, async () => {
    const { tab, problems } = await openTab({ width: 1400, height: 800 })
    await tab.goto(`${address}/`)
    const background = () => tab.evaluate(() => getComputedStyle(document.body).backgroundColor)
    const light = await background()
    const button = tab.locator('.VPNavBarAppearance button')
    await button.click()
    await tab.locator('html.dark').waitFor()
    assert.notEqual(await background(), light)
    await button.click()
    await tab.locator('html:not(.dark)').waitFor()
    assert.equal(await background(), light)
    assert.deepEqual(problems, [])
  })
})
