// The programs of a page: code blocks whose first line is a comment with a file name, as in `// main.mjs`. Writes them into any folder.
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { freePort } from '../../examples/machines/database.js'

const portInPages = '3000'

/** The code blocks of a page, in order, without the indentation of their list item. */
export function codeBlocks(page) {
  return [...page.matchAll(/^( *)```[jt]s\n(.*?)^ *```$/gms)].map(([, indent, code]) =>
    code.replaceAll(new RegExp(`^${indent}`, 'gm'), ''),
  )
}

/** Writes the programs of a page into a folder. Returns their names. */
export function writeProgramsTo(folder, page, change = code => code) {
  mkdirSync(folder, { recursive: true })
  const names = codeBlocks(page).flatMap(code => {
    const name = /^\/\/ ([\w.-]+\.[cm]?[jt]s)\b/.exec(code)?.[1]
    if (name === undefined) return []
    writeFileSync(join(folder, name), change(code))
    return [name]
  })
  assert.equal(new Set(names).size, names.length, `two programs have one name: ${names}`)
  return names
}

/**
 * Writes the programs of a page and runs its server on a free port. `use` gets the address that the server prints, without the last
 * slash, and the process. The server is stopped after it.
 */
export async function withServerIn(folder, page, file, use, env = {}) {
  const port = String(await freePort())
  writeProgramsTo(folder, page, code =>
    code
      .replaceAll(`listen(${portInPages}`, `listen(${port}`)
      .replaceAll(`localhost:${portInPages}`, `localhost:${port}`),
  )
  const server = spawn(process.execPath, [file], {
    cwd: folder,
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const ended = once(server, 'close')
  try {
    const [line] = await Promise.race([
      once(createInterface({ input: server.stdout }), 'line'),
      ended.then(([code]) => assert.fail(`the server exited with code ${code}`)),
    ])
    assert.ok(line.endsWith(`http://localhost:${port}`), line)
    return await use(`http://localhost:${port}`, server)
  } finally {
    server.kill('SIGKILL')
    await ended
  }
}
