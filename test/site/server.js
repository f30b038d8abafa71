// Serves the built site for the tests that open it in a browser.
import { once } from 'node:events'
import { createReadStream, existsSync } from 'node:fs'
import { createServer } from 'node:http'
import { extname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

export const site = fileURLToPath(new URL('../../build/site', import.meta.url))

const types = { '.html': 'text/html', '.js': 'text/javascript', '.css': 'text/css' }

/** The file of an address such as `/guides/`. */
export function fileAt(address) {
  const path = decodeURIComponent(new URL(address, 'http://localhost').pathname).slice(1)
  return path === '' || path.endsWith('/') ? `${path}index.html` : path
}

export async function serveSite() {
  const server = createServer((request, response) => {
    const file = join(site, fileAt(request.url))
    if (!existsSync(file)) return response.writeHead(404).end()
    response.setHeader('content-type', types[extname(file)] ?? 'text/plain')
    response.setHeader('cache-control', 'max-age=600')
    createReadStream(file).pipe(response)
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    address: `http://127.0.0.1:${server.address().port}`,
    close() {
      server.close()
      server.closeAllConnections()
    },
  }
}
