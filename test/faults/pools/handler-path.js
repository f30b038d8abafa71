// Returns the path of a handler file. Broken files are the same for all pools. Other files exist in the form of each pool.
import { isAbsolute } from 'node:path'
import { fileURLToPath } from 'node:url'

export function handlerPath(file, dialect) {
  if (isAbsolute(file)) return file
  const path = file.includes('/') ? file : `${dialect}/${file}`
  return fileURLToPath(new URL(`../handlers/${path}`, import.meta.url))
}
