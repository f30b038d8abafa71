// Resolves the links of a page as GitHub does: relative to its file in the repository. A link to a page leads to that page
// of the site. A link to another file leads to a copy of the file.
import { existsSync, statSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { fillAddress } from './package-facts.js'
import { fileOf, pageOf, root } from './pages.js'

/** Files that pages link to. The build copies them to the site. */
export const linkedFiles = new Set()
/** Links that lead to no file, for the report of the build. */
export const brokenLinks = new Set()

const withScheme = /^([a-z][a-z+.-]*:|\/|#|$)/i

/** The address of a link of this file on the site. */
export function resolveLink(file, link) {
  if (withScheme.test(link)) return fillAddress(link)
  const [, path, rest] = /^([^?#]*)(.*)$/.exec(link)
  let target = join(dirname(file), decodeURI(path)).replaceAll('\\', '/').replace(/\/$/, '')
  if (existsSync(join(root, target, 'README.md'))) target += '/README.md'
  if (!existsSync(join(root, target)) || !statSync(join(root, target)).isFile()) {
    brokenLinks.add(`${file}: ${link}`)
    return link
  }
  const page = pageOf(target)
  if (page !== undefined) return `/${page}${rest}`
  linkedFiles.add(target)
  return `/source/${target}.txt`
}

/** A plugin for markdown-it. */
export function repositoryLinks(md) {
  md.core.ruler.push('repository-links', ({ tokens, env }) => {
    const file = fileOfEnvironment(env)
    for (const { children } of tokens) {
      for (const token of children ?? []) {
        if (token.type === 'link_open') token.attrSet('href', resolveLink(file, token.attrGet('href')))
      }
    }
  })
}

/** The file that markdown-it renders. */
export function fileOfEnvironment({ path, realPath = path, relativePath }) {
  const file = relative(root, realPath).replaceAll('\\', '/')
  return file.includes('[') ? fileOf(relativePath) : file
}

/** The same with a page's text, for readers of the Markdown file. */
export function resolveLinksOfText(file, text) {
  return text.replace(
    /(?<!!)(\]\()([^)\s]+)(\))/g,
    (_, open, link, close) => open + resolveLink(file, link) + close,
  )
}

/** GitHub's id of a heading. VitePress would choose another one. */
export function slugify(heading) {
  return heading
    .trim()
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\p{M}\p{Pc} -]/gu, '')
    .replaceAll(' ', '-')
}
