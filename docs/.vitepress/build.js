// Builds the site into build/site, or serves it while you write.
//   node docs/.vitepress/build.js           build
//   node docs/.vitepress/build.js --serve   serve, with the changes of each page
import { build, createServer } from 'vitepress'
import { writeApiPages } from './api.js'
import { drawCharts } from './charts.js'

await writeApiPages()
drawCharts()
if (process.argv.includes('--serve')) {
  const server = await createServer('docs')
  await server.listen()
  server.printUrls()
} else await build('docs')
