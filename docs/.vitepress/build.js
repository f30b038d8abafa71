// Builds the site into build/site, or serves it while you write.
//   node docs/.vitepress/build.js                 build
//   node docs/.vitepress/build.js --base /lido/   build for https://host/lido/
//   node docs/.vitepress/build.js --serve         serve, with the changes of each page
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { build, createServer } from 'vitepress'
import { drawCharts } from './charts.js'
import { root } from './pages.js'
import { writeTypePages } from './types.js'

const { values } = parseArgs({
  options: { base: { type: 'string', default: '/' }, serve: { type: 'boolean', default: false } },
})
const docs = join(root, 'docs')
await writeTypePages()
drawCharts()
if (values.serve) {
  const server = await createServer(docs)
  await server.listen()
  server.printUrls()
} else await build(docs, { base: values.base })
