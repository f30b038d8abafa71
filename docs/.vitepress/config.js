// The configuration of VitePress. `build.js` writes the generated pages first.
import { join } from 'node:path'
import { defineConfig } from 'vitepress'
import { brokenLinks, repositoryLinks, slugify } from './links.js'
import { checkboxes, inlinePictures, linksOfTypes, tablesOfMarks } from './markdown.js'
import { description, repositoryUrl, version } from './package-facts.js'
import { linkTo, listSections, root, sidebar, withIndex } from './pages.js'
import { searchOptions } from './search.js'
import { copyLinkedFiles, serveLinkedFiles, writeTextPages } from './text-pages.js'

const icon = `data:image/svg+xml,${encodeURIComponent(
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 16 16"><rect width="16" height="16" rx="3" fill="#0b6e4f"/><path d="M5 3v10h6" fill="none" stroke="#fff" stroke-width="2"/></svg>',
)}`
const inTopBar = ['Start', 'Guides', 'Recipes', 'Reference', 'Troubleshooting', 'Benchmarks']

export default defineConfig({
  title: 'lido',
  description,
  lang: 'en',
  head: [['link', { rel: 'icon', href: icon }]],
  outDir: join(root, 'build', 'site'),
  cacheDir: join(root, 'build', 'site-cache'),
  rewrites: withIndex,
  ignoreDeadLinks: false,
  markdown: {
    anchor: { slugify },
    config(md) {
      md.use(linksOfTypes).use(repositoryLinks).use(inlinePictures).use(checkboxes).use(tablesOfMarks)
    },
  },
  themeConfig: {
    siteTitle: `lido <span class="version">${version}</span>`,
    nav: listSections()
      .filter(({ title }) => inTopBar.includes(title))
      .map(({ title, pages, pattern }) => ({
        text: title,
        link: linkTo(pages[0]),
        activeMatch: pattern.source.replace('^', '^/').replace('\\.md$', ''),
      }))
      .concat({ text: 'Changelog', link: '/maintainers/changelog.html' }),
    socialLinks: [{ icon: 'github', link: repositoryUrl, ariaLabel: 'The repository of lido' }],
    sidebar: sidebar(),
    outline: [2, 3],
    search: {
      provider: 'local',
      options: { miniSearch: searchOptions },
    },
    footer: { message: `lido ${version}, MIT licence, <a href="${repositoryUrl}">repository</a>` },
  },
  vite: {
    plugins: [serveLinkedFiles],
    // The index of the search is large. A browser loads it when the reader searches.
    build: { chunkSizeWarningLimit: 2000 },
  },
  buildEnd({ outDir, site }) {
    writeTextPages(outDir, site.base)
    copyLinkedFiles(outDir)
    if (brokenLinks.size > 0) throw new Error(`Links that lead to no file:\n${[...brokenLinks].join('\n')}`)
  },
})
