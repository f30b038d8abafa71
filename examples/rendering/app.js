// One way of rendering the page, as a server in a process of its own. main.js starts it.
import { serve } from '../shared/measured-server.js'
import { meetParent } from '../shared/parent.js'

const { renderer, rowCount, maxWorkers } = await meetParent()
const filename = new URL('./page.js', import.meta.url)
const render = await makeRenderer()

await serve(async (_request, reply) => {
  const page = await render({ rowCount, visitor: 'the harbour office' })
  return reply.type('text/html').send(page)
})

async function makeRenderer() {
  if (renderer === 'alone') return (await import('./page.js')).default
  if (renderer === 'piscina') {
    const { Piscina } = await import('piscina')
    const pool = new Piscina({ filename: filename.href, minThreads: maxWorkers, maxThreads: maxWorkers })
    return payload => pool.run(payload)
  }
  const { Pool } = await import('lido')
  const pool = new Pool({ filename, minWorkers: maxWorkers, maxWorkers })
  return payload => pool.run(payload)
}
