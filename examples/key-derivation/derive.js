// The work in two forms. scryptSync blocks its thread until the key is there. scrypt uses the threads of libuv, which the whole process
// shares (four, or UV_THREADPOOL_SIZE). The file is the handler of the pool, and `name` chooses the function.
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
