// Builds the site of the documentation, checks its links, and opens every page in a browser.
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createReadStream, existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { createServer } from 'node:http'
import { extname, join } from 'node:path'
import { text } from 'node:stream/consumers'
import { after, before, describe, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { chromium } from 'playwright-core'
import { browserArguments, browserPath, noBrowser } from './browser.js'

const root = fileURLToPath(new URL('../../', import.meta.url))
const site = join(root, 'build', 'site')
const types = { '.html': 'text/html', '.js': 'text/javascript', '.css': 'text/css' }
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

/** The file of an address such as `/guides/`. */
function fileAt(address) {
  const path = decodeURIComponent(new URL(address, 'http://localhost').pathname).slice(1)
  return path === '' || path.endsWith('/') ? `${path}index.html` : path
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
  const addressOf = name => `/${name.replace(/(^|\/)README\.md$/, '$1').replace(/\.md$/, '.html')}`
  const inSidebar = attributes(/<aside class="VPSidebar".*?<\/aside>/s.exec(read('index.html'))[0], 'href')
  for (const name of written) {
    const address = addressOf(name)
    assert.ok(pages.includes(fileAt(address)), `${name} is not built`)
    const isHome = address === '/'
    const isInSidebar = inSidebar.includes(address.replace(/index\.html$/, ''))
    assert.ok(isHome || isInSidebar, `${name} is not in the sidebar`)
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

test('llms.txt lists every page as Markdown, and llms-full.txt contains the pages for users', () => {
  const listed = [...read('llms.txt').matchAll(/\]\((\/[^)]+)\)$/gm)].map(([, address]) => fileAt(address))
  assert.deepEqual(listed.sort(), pages.map(page => page.replace(/html$/, 'md')).sort())
  const full = read('llms-full.txt')
  for (const page of listed) {
    const markdown = read(page)
    const links = [...markdown.matchAll(/\]\((\/[^)#\s]+)/g)].map(([, address]) => address)
    for (const link of links) assert.ok(existsSync(join(site, fileAt(link))), `${page}: ${link}`)
    const isForUsers = !/^(api|design|maintainers)\/|^(faults|performance)\.md/.test(page)
    assert.equal(full.includes(markdown.trim()), isForUsers, page)
  }
})

describe('in a browser', () => {
  const needed = { skip: browserPath === undefined && noBrowser }
  let browser
  let server
  let address

  before(async () => {
    if (browserPath === undefined) return
    server = createServer((request, response) => {
      const file = join(site, fileAt(request.url))
      if (!existsSync(file)) return response.writeHead(404).end()
      response.setHeader('content-type', types[extname(file)] ?? 'text/plain')
      response.setHeader('cache-control', 'max-age=600')
      createReadStream(file).pipe(response)
    }).listen(0, '127.0.0.1')
    await once(server, 'listening')
    address = `http://127.0.0.1:${server.address().port}`
    browser = await chromium.launch({ executablePath: browserPath, args: browserArguments })
  })

  after(async () => {
    await browser?.close()
    server?.close()
    server?.closeAllConnections()
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

  test('every page opens without an error, and fits on a phone', needed, async () => {
    const left = [...pages]
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
    assert.deepEqual(opened.sort(), [...pages].sort())
  })

  test('the search finds a page by a word of its text', needed, async () => {
    const { tab, problems } = await openTab({ width: 1280, height: 800 })
    await tab.goto(`${address}/`)
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
