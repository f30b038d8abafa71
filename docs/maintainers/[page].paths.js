// Shows pages of the repository that lie outside `docs`, such as ARCHITECTURE.md.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { outsidePages, pageOf, root } from '../.vitepress/pages.js'

export default {
  paths: () =>
    outsidePages().map(file => ({
      params: { page: pageOf(file).slice('maintainers/'.length, -'.md'.length) },
      content: readFileSync(join(root, file), 'utf8'),
    })),
}
