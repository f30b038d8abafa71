// The server of lists, in a process of its own. Each response comes after a delay, as from a distant database.
import { createServer } from 'node:http'
import { meetParent, tellParent } from '../shared/parent.js'
import { makeListText } from './list.js'

const { length, delayMs } = await meetParent()
const body = makeListText(length)

const server = createServer((_request, response) => {
  setTimeout(() => response.setHeader('content-type', 'application/json').end(body), delayMs)
})
server.listen(0, '127.0.0.1', () => tellParent({ kind: 'listening', port: server.address().port }))
