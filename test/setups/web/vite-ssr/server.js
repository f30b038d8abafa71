import { createServer } from 'node:http'

const vite =
  process.env.NODE_ENV === 'production'
    ? null
    : await (await import('vite')).createServer({ server: { middlewareMode: true }, appType: 'custom' })

const entry = () => vite?.ssrLoadModule('/src/entry-server.ts') ?? import('./dist/entry-server.js')

createServer(async (request, response) => {
  if (request.url !== '/fib') return response.end('hello')
  try {
    const { render } = await entry()
    response.end(await render())
  } catch (error) {
    response.statusCode = 500
    response.end(String(error))
  }
}).listen(Number(process.env.PORT), '127.0.0.1')
