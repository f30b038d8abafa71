// Where the programs of a user have their sockets, for `npx lido trace` and `npx lido top`. A socket has the name of its process:
// `lido-UID/PID.sock` in the folder for temporary files. On Windows it is a named pipe.
import { getBuiltinModule } from '../../shared/platform/node-modules.js'

const isWindows = process.platform === 'win32'
const pipePrefix = 'lido-inspect-'
const pipes = '\\\\.\\pipe\\'
/** Rights of group and others. */
const RIGHTS_OF_OTHERS = 0o077

/** The folder of the sockets of a user. Default: the user of this process. */
export function socketFolder(uid: number = process.geteuid?.() ?? 0): string {
  const { tmpdir } = getBuiltinModule('node:os')
  return isWindows ? pipes : getBuiltinModule('node:path').join(tmpdir(), `lido-${uid}`)
}

export function socketPath(pid: number, uid?: number): string {
  const folder = socketFolder(uid)
  return isWindows
    ? `${folder}${pipePrefix}${pid}`
    : getBuiltinModule('node:path').join(folder, `${pid}.sock`)
}

/**
 * Throws unless the folder belongs to this user alone. A folder of somebody else, or a link to one, could lead requests to a
 * foreign program.
 * @param uid the owner that the folder must have
 */
export function checkFolder(folder: string, uid: number = process.geteuid?.() ?? 0): void {
  if (isWindows) return
  const found = getBuiltinModule('node:fs').lstatSync(folder)
  if (!found.isDirectory()) throw new Error(`${folder} is no folder. Remove it.`)
  if (found.uid !== uid) {
    throw new Error(
      `${folder} belongs to the user with the id ${found.uid}. Remove it, or set another TMPDIR.`,
    )
  }
  if ((found.mode & RIGHTS_OF_OTHERS) !== 0) {
    throw new Error(`Other users have rights on ${folder}. Remove it, or run: chmod 700 ${folder}`)
  }
}

/** Creates the folder for this user alone, and checks it. */
export function makeFolder(): string {
  const folder = socketFolder()
  if (isWindows) return folder
  try {
    getBuiltinModule('node:fs').mkdirSync(folder, { mode: 0o700 })
  } catch (failure) {
    if ((failure as NodeJS.ErrnoException).code !== 'EEXIST') throw failure
  }
  checkFolder(folder)
  return folder
}

/** The ids of this user's processes that have a socket. Some of them may have ended. */
export function inspectablePids(): number[] {
  const folder = socketFolder()
  let names: string[] = []
  try {
    checkFolder(folder)
    names = getBuiltinModule('node:fs').readdirSync(folder)
  } catch (failure) {
    if ((failure as NodeJS.ErrnoException).code !== 'ENOENT') throw failure
  }
  const pattern = isWindows ? new RegExp(`^${pipePrefix}(\\d+)$`) : /^(\d+)\.sock$/
  return names
    .map(name => pattern.exec(name)?.[1])
    .filter(pid => pid !== undefined)
    .map(Number)
    .sort((one, other) => one - other)
}

/** False when no process has this id. A process of another user counts. */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (failure) {
    return (failure as NodeJS.ErrnoException).code === 'EPERM'
  }
}

/**
 * Removes the sockets of processes that have ended. A process of another container may use the same folder, and this process cannot see
 * its id. So a socket that accepts a connection stays.
 */
export async function removeStaleSockets(): Promise<void> {
  if (isWindows) return
  const stale = inspectablePids().filter(pid => pid !== process.pid && !isAlive(pid))
  await Promise.all(stale.map(pid => removeUnlessAnswering(socketPath(pid))))
}

/** Resolves with whether the socket is removed. */
export function removeUnlessAnswering(path: string): Promise<boolean> {
  return new Promise(resolve => {
    const connection = getBuiltinModule('node:net').connect(path)
    connection.unref()
    connection.once('connect', () => {
      connection.destroy()
      resolve(false)
    })
    connection.once('error', ({ code }: NodeJS.ErrnoException) => {
      const isStale = code === 'ECONNREFUSED'
      if (isStale) removeSocket(path)
      resolve(isStale || code === 'ENOENT')
    })
  })
}

export function removeSocket(path: string): void {
  try {
    getBuiltinModule('node:fs').unlinkSync(path)
  } catch {
    // It is gone.
  }
}
