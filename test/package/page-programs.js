// The programs of a page, in the project of a user that has the packed lido.
import { readFileSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { project, root } from './installed.js'
import { withServerIn, writeProgramsTo } from './program-files.js'

export { codeBlocks } from './program-files.js'

export function readPage(name) {
  return readFileSync(join(root, name), 'utf8')
}

/** Writes the programs of a page into a folder of the user's project. Returns their names. */
export function writePrograms(page, folder, change) {
  return writeProgramsTo(join(project, folder), page, change)
}

/** Makes packages of this repository available to the user's project, as `npm install` does. */
export function addPackages(...names) {
  for (const name of names) {
    symlinkSync(join(root, 'node_modules', name), join(project, 'node_modules', name), 'junction')
  }
}

/** Runs the server of a page in a folder of the user's project, as `withServerIn` does. */
export function withServer(page, folder, file, use, env) {
  return withServerIn(join(project, folder), page, file, use, env)
}
