// The functions of Node's modules that the host and workers use. Importing such a module as an ES module reads all its exports,
// and the getters of `util` and `fs` load much code on newer versions of Node. `getBuiltinModule` does not read them.

const getBuiltinModule: typeof process.getBuiltinModule = process.getBuiltinModule
const { closeSync, existsSync, openSync, readFileSync, readSync, unlinkSync, writeSync } =
  getBuiltinModule('node:fs')
const { extname, isAbsolute, join } = getBuiltinModule('node:path')
const { fileURLToPath, pathToFileURL } = getBuiltinModule('node:url')
const { inspect, types } = getBuiltinModule('node:util')

export {
  closeSync,
  existsSync,
  extname,
  fileURLToPath,
  getBuiltinModule,
  inspect,
  isAbsolute,
  join,
  openSync,
  pathToFileURL,
  readFileSync,
  readSync,
  types,
  unlinkSync,
  writeSync,
}
