// What the site takes from package.json: version, description, and the addresses of the repository and of the site.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { root } from './pages.js'

const { version, description, repository, homepage } = JSON.parse(
  readFileSync(join(root, 'package.json'), 'utf8'),
)
/** Pages name these addresses. The site shows those of package.json in their place. */
const placeholders = { repository: 'https://github.com/OWNER/lido', site: 'https://OWNER.github.io/lido/' }
const repositoryUrl = webAddress(repository?.url ?? repository) ?? placeholders.repository
const siteUrl = homepage ?? placeholders.site

export { description, repositoryUrl, version }

/** The address for a browser of an address such as `git+https://example.org/lido.git`. */
function webAddress(url) {
  return url?.replace(/^git\+/, '').replace(/\.git$/, '')
}

export function fillAddress(link) {
  return link.replace(placeholders.repository, repositoryUrl).replace(placeholders.site, siteUrl)
}
