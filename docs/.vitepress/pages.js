// Which Markdown files are pages of the site, under which address, and in which order the sidebar lists them.
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

export const root = fileURLToPath(new URL('../../', import.meta.url))

/** Pages that lie outside `docs`. The route `docs/maintainers/[page].md` shows them. */
const outside = {
  'ARCHITECTURE.md': 'architecture',
  'CONTRIBUTING.md': 'contributing',
  'CHANGELOG.md': 'changelog',
  'SECURITY.md': 'security',
  'bench/README.md': 'benchmark',
  'src/shared/lane/README.md': 'lane',
  'examples/README.md': 'examples',
}

/**
 * The sections of the sidebar, in their order. A page belongs to the first section whose pattern matches its path. A new
 * page of no section is listed under "More".
 */
const sections = [
  { title: 'Start', pattern: /^start\.md$/ },
  { title: 'When a pool helps', pattern: /^when-a-pool-helps\.md$/ },
  { title: 'Guides', pattern: /^guides\/(?!from-|set-ups\.md|frameworks\.md)/ },
  { title: 'Recipes', pattern: /^recipes\// },
  { title: 'Set-ups', pattern: /^(guides\/)?(set-ups|frameworks)(\.md|\/)/ },
  { title: 'Move from another pool', pattern: /^(moving\/|guides\/from-)/ },
  { title: 'Reference', pattern: /^reference\// },
  { title: 'API', pattern: /^api\//, isGenerated: true },
  { title: 'Comparison', pattern: /^comparison\.md$/ },
  { title: 'Troubleshooting', pattern: /^troubleshooting(\.md|\/)/ },
  { title: 'Production checklist', pattern: /^production\.md$/ },
  { title: 'How it works', pattern: /^how-it-works\.md$/ },
  { title: 'Benchmarks', pattern: /^benchmarks\.md$/ },
  { title: 'More', pattern: /^(?!index\.md$|design\/|maintainers\/|faults\.md$|performance\.md$)/ },
  {
    title: 'For maintainers',
    pattern: /^(design|maintainers)\/|^(faults|performance)\.md$/,
    isForMaintainers: true,
  },
]

/** The page of a file, for example `guides/map.md` for `docs/guides/map.md`; `undefined` if the file is no page. */
export function pageOf(file) {
  if (file === 'README.md') return 'index.md'
  if (Object.hasOwn(outside, file)) return `maintainers/${outside[file]}.md`
  if (!file.startsWith('docs/') || !file.endsWith('.md')) return undefined
  return withIndex(file.slice('docs/'.length))
}

/** The file of a page, relative to the root of the repository. */
export function fileOf(page) {
  const found = Object.keys(outside).find(file => pageOf(file) === page)
  if (found !== undefined) return found
  const readme = join('docs', page.replace(/(^|\/)index\.md$/, '$1README.md')).replaceAll('\\', '/')
  return existsSync(join(root, readme)) ? readme : `docs/${page}`
}

export function withIndex(path) {
  return path.replace(/(^|\/)README\.md$/, '$1index.md')
}

export function outsidePages() {
  return Object.keys(outside).filter(file => existsSync(join(root, file)))
}

/** All pages of the site. */
export function allPages() {
  const inside = readdirSync(join(root, 'docs'), { recursive: true })
    .map(name => `docs/${name.replaceAll('\\', '/')}`)
    .filter(file => file.endsWith('.md') && !/\/\.|\[/.test(file))
  return [...inside, ...outsidePages()].map(pageOf).sort()
}

export function readPage(page) {
  return readFileSync(join(root, fileOf(page)), 'utf8')
}

export function titleOf(page) {
  const heading = /^# (.+)$/m.exec(readPage(page))?.[1]
  if (heading === undefined)
    throw new Error(`${fileOf(page)} has no heading. Start it with "# " and its title.`)
  return heading.replaceAll('`', '').replace(/\\(.)/g, '$1')
}

/**
 * The sections that have pages, each with its pages. The pages have the order of the links in `docs/README.md`, then of the links
 * in the first page of their folder. Pages without such a link follow in the order of their paths.
 */
export function listSections() {
  const linked = linkedPages('docs/README.md')
  const rest = new Set(allPages())
  return sections.flatMap(section => {
    const pages = [...rest].filter(page => section.pattern.test(page))
    for (const page of pages) rest.delete(page)
    if (pages.length === 0) return []
    const order = [...linked, ...pages.filter(page => page.endsWith('index.md')).flatMap(linksOfIndex)]
    const rank = page => (order.includes(page) ? order.indexOf(page) : order.length)
    return [{ ...section, pages: pages.sort((one, other) => rank(one) - rank(other)) }]
  })
}

function linksOfIndex(page) {
  return [page, ...linkedPages(fileOf(page))]
}

function linkedPages(file) {
  const text = readFileSync(join(root, file), 'utf8')
  return [...text.matchAll(/\]\(([^)#:]+\.md)[)#]/g)]
    .map(([, link]) => pageOf(join(dirname(file), link).replaceAll('\\', '/')))
    .filter(page => page !== undefined)
}

/** The sidebar in the form of VitePress. */
export function sidebar() {
  return listSections().map(({ title, pages, isForMaintainers }) => {
    if (pages.length === 1) return { text: title, link: linkTo(pages[0]) }
    if (isForMaintainers) return { text: title, collapsed: true, items: withoutFolders(pages) }
    const first = pages.find(page => /^[^/]+\/index\.md$/.test(page))
    const items = pages.filter(page => page !== first).map(item)
    return {
      text: title,
      ...(first === undefined ? {} : { link: linkTo(first) }),
      collapsed: true,
      items,
    }
  })
}

/** Design records have their own group, because there are many. */
function withoutFolders(pages) {
  const records = pages.filter(page => page.startsWith('design/') && page !== 'design/index.md')
  const others = pages.filter(page => !page.startsWith('design/'))
  const group = { text: 'Design records', link: linkTo('design/index.md'), collapsed: true }
  return [...others.map(item), { ...group, items: records.map(item) }]
}

function item(page) {
  return { text: titleOf(page), link: linkTo(page) }
}

export function linkTo(page) {
  return `/${page.replace(/(^|\/)index\.md$/, '$1').replace(/\.md$/, '.html')}`
}
