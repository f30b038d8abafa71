// Files for readers without a browser: each page as Markdown, `llms.txt`, which lists them, `llms-full.txt`, which contains
// them, and copies of the source files that pages link to.
import { copyFileSync, createReadStream, mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { withoutMarks } from './figures.js'
import { linkedFiles, resolveLinksOfText } from './links.js'
import { allPages, fileOf, listSections, readPage, root, titleOf } from './pages.js'

export function writeTextPages(outDir) {
  for (const page of allPages()) write(join(outDir, page), textOf(page))
  const sections = listSections()
  const lists = sections.map(({ title, pages }) => `## ${title}\n\n${pages.map(lineOf).join('\n')}`)
  const start = '# lido\n\n> A worker pool for Node.js. Each link leads to a page in Markdown.'
  write(join(outDir, 'llms.txt'), `${[start, lineOf('index.md'), ...lists].join('\n\n')}\n`)
  const forUsers = sections.filter(({ isGenerated, isForMaintainers }) => !isGenerated && !isForMaintainers)
  const texts = ['index.md', ...forUsers.flatMap(({ pages }) => pages)].map(
    page => `<!-- /${page} -->\n\n${textOf(page).trim()}\n`,
  )
  write(join(outDir, 'llms-full.txt'), texts.join('\n'))
}

function lineOf(page) {
  return `- [${titleOf(page)}](/${page})`
}

function textOf(page) {
  return withoutMarks(resolveLinksOfText(fileOf(page), readPage(page)))
}

export function copyLinkedFiles(outDir) {
  for (const file of linkedFiles) {
    const copy = join(outDir, 'source', `${file}.txt`)
    mkdirSync(dirname(copy), { recursive: true })
    copyFileSync(join(root, file), copy)
  }
}

function write(file, text) {
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
