// Another program on the same cores: a process whose threads all compute.
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'

const processPath = fileURLToPath(new URL('./neighbour-process.js', import.meta.url))

/** Resolves when all threads compute. The returned function ends them. */
export async function startNeighbour(threads) {
  const child = fork(processPath, [String(threads)], {
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    execArgv: [],
  })
  const exited = once(child, 'exit')
  const failed = exited.then(([code]) => {
    throw new Error(`the process beside the pool exited (${code})`)
  })
  failed.catch(() => {})
  await Promise.race([once(child, 'message'), failed])
  return async () => {
    child.kill('SIGKILL')
    await exited
  }
}
