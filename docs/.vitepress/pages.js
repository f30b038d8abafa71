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
 * page of no section is listed under "More". `groups` orders the pages of a section under headings; other pages follow.
 */
const sections = [
  { title: 'Start', pattern: /^start\.md$/ },
  { title: 'When a pool helps', pattern: /^when-a-pool-helps\.md$/ },
  {
    title: 'Guides',
    pattern: /^guides\/(?!from-|migrate\.md|set-ups\.md|frameworks\.md|dev-servers\.md)/,
    groups: {
      'Run work': ['map', 'streams', 'typed-calls', 'functions', 'broadcast', 'calling-back', 'progress'],
      'Data and workers': ['share', 'warm-up', 'database-connections', 'living-with-workers', 'backends'],
      'Errors and limits': ['errors', 'queue', 'cancelling', 'order-keys-tenants', 'closing'],
      'Look inside': ['watch-a-pool', 'find-out-what-is-slow', 'output', 'trace-requests'],
      Servers: ['express', 'fastify', 'nestjs', 'hono', 'koa', 'websockets', 'json-bodies'],
      'Many machines': ['many-machines', 'operate-many-machines'],
    },
  },
  {
    title: 'Recipes',
    pattern: /^recipes\//,
    groups: {
      Servers: ['passwords', 'server-sent-events', 'streaming', 'request-id', 'limits', 'tenants'],
      Data: ['images', 'csv', 'large-data', 'pdf', 'spreadsheets', 'zip', 'sqlite'],
      'Models and native code': ['inference', 'warm-model', 'native-addons', 'webassembly'],
      Operation: ['containers', 'shutdown', 'debugging', 'testing', 'many-machines'],
    },
  },
  { title: 'Set-ups', pattern: /^guides\/(set-ups|frameworks|dev-servers)\.md$/ },
  { title: 'Move from another pool', pattern: /^guides\/(from-|migrate)/ },
  { title: 'Reference', pattern: /^reference\// },
  { title: 'Types', pattern: /^types\//, isGenerated: true },
  { title: 'Comparison', pattern: /^comparison\.md$/ },
  { title: 'Troubleshooting', pattern: /^troubleshooting(\.md|\/)/ },
  { title: 'Production checklist', pattern: /^production\.md$/ },
  { title: 'Where it runs', pattern: /^where-it-runs\.md$/ },
  { title: 'How it works', pattern: /^how-it-works\.md$/ },
  { title: 'Benchmarks', pattern: /^benchmarks\.md$/ },
  { title: 'All pages', pattern: /^documentation\.md$/ },
  { title: 'More', pattern: /^(?!index\.md$|design\/|maintainers\/|faults\.md$|performance\.md$)/ },
  {
    title: 'For maintainers',
    pattern: /^(design|maintainers)\/|^(faults|performance)\.md$/,
    isForMaintainers: true,
  },
]

/** Titles of the sidebar for pages whose own title has more than four words. */
const shortTitles = {
  'faults.md': 'Faults',
  'guides/broadcast.md': 'Call every worker',
  'guides/calling-back.md': 'Calls to the program',
  'guides/cancelling.md': 'Cancel, and limit time',
  'guides/database-connections.md': 'Database connections',
  'guides/dev-servers.md': 'Development servers',
  'guides/express.md': 'Express',
  'guides/fastify.md': 'Fastify',
  'guides/find-out-what-is-slow.md': 'Find what is slow',
  'guides/functions.md': 'Functions without a file',
  'guides/hono.md': 'Hono',
  'guides/koa.md': 'Koa',
  'guides/living-with-workers.md': 'Restart, retry and replace',
  'guides/map.md': 'Run many items',
  'guides/migrate.md': 'npx lido migrate',
  'guides/nestjs.md': 'NestJS',
  'guides/output.md': 'Output and logs',
  'guides/progress.md': 'Show the progress',
  'guides/share.md': 'Share large data',
  'guides/streams.md': 'Results piece by piece',
  'guides/typed-calls.md': 'Calls with types',
  'guides/warm-up.md': 'Prepare workers',
  'guides/websockets.md': 'WebSockets',
  'recipes/csv.md': 'CSV and NDJSON files',
  'recipes/images.md': 'Image work',
  'recipes/inference.md': 'Machine-learning models',
  'recipes/limits.md': 'Limits around the pool',
  'recipes/many-machines.md': 'Jobs on many machines',
  'recipes/native-addons.md': 'Native add-ons',
  'recipes/pdf.md': 'PDF documents',
  'recipes/request-id.md': 'Request ids in logs',
  'recipes/server-sent-events.md': 'Progress in a browser',
  'recipes/shutdown.md': 'Shut down',
  'recipes/spreadsheets.md': 'Spreadsheets',
  'recipes/sqlite.md': 'SQLite',
  'recipes/streaming.md': 'Stream to a client',
  'recipes/zip.md': 'Zip archives',
}

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
  if (page === 'index.md') return 'docs/index.md'
  if (page === 'documentation.md') return 'docs/README.md'
  const readme = join('docs', page.replace(/(^|\/)index\.md$/, '$1README.md')).replaceAll('\\', '/')
  return existsSync(join(root, readme)) ? readme : `docs/${page}`
}

/** The page of a file in `docs`. README.md of `docs` is a page of its own, because index.md is the home page. */
export function withIndex(path) {
  if (path === 'README.md') return 'documentation.md'
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
  return listSections().map(({ title, pages, groups, isForMaintainers }) => {
    if (pages.length === 1) return { text: title, link: linkTo(pages[0]) }
    const first = isForMaintainers ? undefined : pages.find(page => /^[^/]+\/index\.md$/.test(page))
    const others = pages.filter(page => page !== first && !isListedElsewhere(page))
    return {
      text: title,
      ...(first === undefined ? {} : { link: linkTo(first) }),
      collapsed: true,
      items: groups === undefined ? others.map(item) : itemsOfGroups(others, groups),
    }
  })
}

/** The first page of the design records lists the records, and the page of a module lists its types. */
export function isListedElsewhere(page) {
  return /^(design\/(?!index\.md)|types\/(?!(lido\/(\w+\/)?)?index\.md))/.test(page)
}

/** Pages of the reference whose title names no module, and that describe the module `lido`. */
const referenceOfLido = ['pool', 'errors', 'queues', 'statistics', 'channels', 'trace']

/** The modules of the package that a page of the reference describes, for example `lido/body`. */
export function doorsOf(page) {
  const [, name] = /^reference\/([\w-]+)\.md$/.exec(page) ?? []
  if (name === undefined) return []
  return referenceOfLido.includes(name) ? ['lido'] : (titleOf(page).match(/\blido\/\w+/g) ?? [])
}

/** The pages of the reference that describe the module of this page of types. */
export function referenceOf(page) {
  const [, door] = /^types\/(lido(?:\/\w+)?)\/index\.md$/.exec(page) ?? []
  if (door === undefined) return []
  return allPages().filter(candidate => doorsOf(candidate).includes(door))
}

function itemsOfGroups(pages, groups) {
  const left = new Set(pages)
  const grouped = Object.entries(groups).map(([text, names]) => {
    const found = names.map(name => pages.find(page => page.endsWith(`/${name}.md`))).filter(Boolean)
    for (const page of found) left.delete(page)
    return { text, items: found.map(item) }
  })
  return [...grouped, ...[...left].map(item)]
}

function item(page) {
  return { text: shortTitles[page] ?? titleOf(page), link: linkTo(page) }
}

export function linkTo(page) {
  return `/${page.replace(/(^|\/)index\.md$/, '$1').replace(/\.md$/, '.html')}`
}
