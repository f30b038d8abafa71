// A temporary folder that is removed when its test ends.
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'

export function openFolder(t) {
  const path = realpathSync(mkdtempSync(join(tmpdir(), 'lido-test-')))
  t.after(() => rmSync(path, { recursive: true, force: true, maxRetries: 5 }))
  return {
    path,
    /** Writes a file and returns its path. */
    write(name, text) {
      const file = join(path, name)
      mkdirSync(dirname(file), { recursive: true })
      writeFileSync(file, text)
      return file
    },
  }
}
