// What is used of Node's modules that every program has loaded. To import one as an ES module is to read all that it exports,
// and behind the getters of `util` and `fs` is much that nobody asked for: on newer versions, a good part of the import.

/** As it was found: a handler's module may take it away. */
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
