// Keeps the work, in two forms: scryptSync holds its thread until the key is there; scrypt hands the same work to
// the threads of libuv, of which the whole process has one set (four, unless UV_THREADPOOL_SIZE says otherwise).
// The file is the worker's handler as it is: the pool is told by `name` which form to run.
import { scrypt, scryptSync } from 'node:crypto'
import { promisify } from 'node:util'

const keyLengthBytes = 32
const scryptLater = promisify(scrypt)

export function deriveSync({ password, salt, cost }) {
  return scryptSync(password, salt, keyLengthBytes, { N: cost, maxmem: 256 * cost * 8 }).toString('hex')
}

export async function deriveAsync({ password, salt, cost }) {
  const key = await scryptLater(password, salt, keyLengthBytes, { N: cost, maxmem: 256 * cost * 8 })
  return key.toString('hex')
}
