// The least memory that a value needs. The tests compare it with the size of the damaged message.
import { types } from 'node:util'

/** Returns bytes. A shared part counts once. */
export function sizeOf(value) {
  const seen = new Set()
  let size = 0
  const pending = [value]
  while (pending.length > 0) {
    const next = pending.pop()
    if (typeof next === 'string') size += next.length
    if (next === null || typeof next !== 'object' || seen.has(next)) continue
    seen.add(next)
    size += 16
    if (types.isArrayBuffer(next)) size += next.byteLength
    else if (ArrayBuffer.isView(next)) pending.push(next.buffer)
    else if (types.isMap(next)) pending.push(...next.keys(), ...next.values())
    else if (types.isSet(next)) pending.push(...next)
    else for (const key of Reflect.ownKeys(next)) pending.push(key, next[key])
  }
  return size
}
