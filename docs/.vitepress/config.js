// The configuration of VitePress. `build.js` writes the generated pages first.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { defineConfig } from 'vitepress'
import { brokenLinks, repositoryLinks, slugify } from './links.js'
import { checkboxes, inlinePictures } from './markdown.js'
import { linkTo, listSections, root, sidebar, withIndex } from './pages.js'
import { copyLinkedFiles, serveLinkedFiles, writeTextPages } from './text-pages.js'

const { version, description } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
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
      md.use(repositoryLinks).use(inlinePictures).use(checkboxes)
    },
  },
  themeConfig: {
    nav: listSections()
      .filter(({ title }) => inTopBar.includes(title))
      .map(({ title, pages, pattern }) => ({
        text: title,
        link: linkTo(pages[0]),
        activeMatch: pattern.source.replace('^', '^/').replace('\\.md$', ''),
      })),
    sidebar: sidebar(),
    outline: [2, 3],
    search: {
      provider: 'local',
      options: {
        miniSearch: {
          searchOptions: {
            // Pages for users come first.
            boostDocument: id => (/^\/(api|comparison|design|faults|performance)/.test(id) ? 0.3 : 1),
          },
        },
      },
    },
    footer: { message: `lido ${version}, MIT licence` },
  },
  vite: {
    plugins: [serveLinkedFiles],
    // The index of the search is large. A browser loads it when the reader searches.
    build: { chunkSizeWarningLimit: 2000 },
  },
  buildEnd({ outDir }) {
    writeTextPages(outDir)
    copyLinkedFiles(outDir)
    if (brokenLinks.size > 0) throw new Error(`Links that lead to no file:\n${[...brokenLinks].join('\n')}`)
  },
})
