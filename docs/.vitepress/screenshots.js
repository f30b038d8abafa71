// Takes pictures of five pages of the site, on a wide screen and on a phone, in light and in dark, into build/screenshots.
//   npm run docs && node docs/.vitepress/screenshots.js [page …]
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { chromium } from 'playwright-core'
import { browserArguments, browserPath, noBrowser } from '../../test/site/browser.js'
import { serveSite } from '../../test/site/server.js'
import { root } from './pages.js'

const asked = process.argv.slice(2)
const pages =
  asked.length > 0
    ? asked
    : ['', 'guides/map.html', 'comparison.html#queue', 'reference/pool.html', 'benchmarks.html']
const sizes = { wide: { width: 1280, height: 900 }, phone: { width: 390, height: 844 } }

if (browserPath === undefined) throw new Error(noBrowser)
const folder = join(root, 'build', 'screenshots')
mkdirSync(folder, { recursive: true })
const server = await serveSite()
const browser = await chromium.launch({ executablePath: browserPath, args: browserArguments })
for (const [size, viewport] of Object.entries(sizes)) {
  for (const colorScheme of ['light', 'dark']) {
    const context = await browser.newContext({ viewport, colorScheme })
    const tab = await context.newPage()
    for (const page of pages) {
      await tab.goto(`${server.address}/${page}`, { waitUntil: 'networkidle' })
      const name = page.replace(/\.html.*$/, '').replaceAll('/', '-') || 'home'
      await tab.screenshot({
        path: join(folder, `${name}-${size}-${colorScheme}.png`),
        fullPage: page === '',
      })
    }
    await context.close()
  }
}
await browser.close()
server.close()
console.log(`The pictures are in ${folder}.`)
