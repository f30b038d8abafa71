// Where the handlers are: files that are broken are the same for all pools, the others in each pool's dialect.
import { isAbsolute } from 'node:path'
import { fileURLToPath } from 'node:url'

export function handlerPath(file, dialect) {
  if (isAbsolute(file)) return file
  const path = file.includes('/') ? file : `${dialect}/${file}`
  return fileURLToPath(new URL(`../handlers/${path}`, import.meta.url))
}
