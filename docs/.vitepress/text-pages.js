// Files for readers without a browser: each page as Markdown, `llms.txt`, which lists them, `llms-full.txt`, which contains
// them, and copies of the source files that pages link to.
import { copyFileSync, createReadStream, mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { withoutMarks } from './figures.js'
import { linkedFiles, resolveLinksOfText } from './links.js'
import { allPages, fileOf, isListedElsewhere, listSections, readPage, root, titleOf } from './pages.js'

export function writeTextPages(outDir, base) {
  const write = (file, text) => writeText(join(outDir, file), text.replaceAll('](/', `](${base}`))
  for (const page of allPages()) write(page, textOf(page))
  const sections = listSections()
  const lists = sections.map(({ title, pages }) => {
    const listed = pages.filter(page => !isTypePage(page))
    return `## ${title}\n\n${listed.map(lineOf).join('\n')}`
  })
  const start = '# lido\n\n> A worker pool for Node.js. Each link leads to a page in Markdown.'
  write('llms.txt', `${[start, lineOf('index.md'), ...lists].join('\n\n')}\n`)
  const forUsers = sections.filter(({ isGenerated, isForMaintainers }) => !isGenerated && !isForMaintainers)
  const texts = ['index.md', ...forUsers.flatMap(({ pages }) => pages)].map(
    page => `<!-- /${page} -->\n\n${textOf(page).trim()}\n`,
  )
  write('llms-full.txt', texts.join('\n'))
}

function lineOf(page) {
  return `- [${titleOf(page)}](/${page})`
}

/** The page of a module links the pages of its types. */
function isTypePage(page) {
  return page.startsWith('types/') && isListedElsewhere(page)
}

/** The Markdown of a page. The home page has front matter and elements for its layout. */
function textOf(page) {
  const text = withoutMarks(readPage(page))
  if (page !== 'index.md') return resolveLinksOfText(fileOf(page), text)
  const content = text.replace(/^---\n.*?\n---\n/s, '').replace(/^<\/?div[^>]*>\n+/gm, '')
  return resolveLinksOfText(fileOf(page), content)
}

export function copyLinkedFiles(outDir) {
  for (const file of linkedFiles) {
    const copy = join(outDir, 'source', `${file}.txt`)
    mkdirSync(dirname(copy), { recursive: true })
    copyFileSync(join(root, file), copy)
  }
}

function writeText(file, text) {
  mkdirSync(dirname(file), { recursive: true })
  writeFileSync(file, text)
}

/** A plugin for Vite: `npm run docs:dev` has no copies, so the server reads the files themselves. */
export const serveLinkedFiles = {
  name: 'linked-files',
  configureServer(server) {
    server.middlewares.use('/source', (request, response, next) => {
      const file = decodeURI(request.url)
        .slice(1)
        .replace(/\.txt$/, '')
      if (!linkedFiles.has(file)) return next()
      response.setHeader('content-type', 'text/plain; charset=utf-8')
      createReadStream(join(root, file)).pipe(response)
    })
  },
}
