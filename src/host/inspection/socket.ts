// The socket of a program that was started with `LIDO_INSPECT=1`. Only the owner of the program can open it. It uses no network, and
// never keeps the program alive.
import type { Server } from 'node:net'
import { getBuiltinModule } from '../../shared/platform/node-modules.js'
import type { InspectedPools } from './inspected-pools.js'
import { serveRequests } from './requests.js'
import { makeFolder, removeSocket, removeStaleSockets, removeUnlessAnswering, socketPath } from './sockets.js'

const MOST_CLIENTS = 16

/** Never rejects. */
export async function openSocket(pools: InspectedPools): Promise<void> {
  try {
    await open(pools)
  } catch (failure) {
    process.emitWarning(
      `LIDO_INSPECT=1 has no effect, because the socket cannot be opened. ${(failure as Error).message}`,
      { type: 'LidoWarning', code: 'LIDO_INSPECT' },
    )
  }
}

async function open(pools: InspectedPools): Promise<void> {
  makeFolder()
  const path = socketPath(process.pid)
  const server = getBuiltinModule('node:net').createServer(connection => serveRequests(connection, pools))
  server.unref()
  server.maxConnections = MOST_CLIENTS
  try {
    await listen(server, path)
  } catch (failure) {
    const isTaken = (failure as NodeJS.ErrnoException).code === 'EADDRINUSE'
    // An earlier process with this id left the socket.
    if (!isTaken || !(await removeUnlessAnswering(path))) throw failure
    await listen(server, path)
  }
  // An accident, such as too many open files, must not end the program.
  server.on('error', () => {})
  if (process.platform !== 'win32') {
    getBuiltinModule('node:fs').chmodSync(path, 0o600)
    process.once('exit', () => removeSocket(path))
  }
  await removeStaleSockets()
}

function listen(server: Server, path: string): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen(path, () => {
      server.off('error', reject)
      resolve()
    })
  })
}
