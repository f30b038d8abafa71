// Builds the site into build/site, or serves it while you write.
//   node docs/.vitepress/build.js           build
//   node docs/.vitepress/build.js --serve   serve, with the changes of each page
import { join } from 'node:path'
import { build, createServer } from 'vitepress'
import { writeApiPages } from './api.js'
import { drawCharts } from './charts.js'
import { root } from './pages.js'

const docs = join(root, 'docs')
await writeApiPages()
drawCharts()
if (process.argv.includes('--serve')) {
  const server = await createServer(docs)
  await server.listen()
  server.printUrls()
} else await build(docs)
