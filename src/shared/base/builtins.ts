// What is used of Node's modules that every program has loaded. To import one as an ES module is to read all that it exports,
// and behind the getters of `util` and `fs` is much that nobody asked for: on newer versions, a good part of the import.

const { closeSync, openSync, readFileSync, readSync, unlinkSync, writeSync } =
  process.getBuiltinModule('node:fs')
const { extname, isAbsolute, join } = process.getBuiltinModule('node:path')
const { fileURLToPath, pathToFileURL } = process.getBuiltinModule('node:url')
const { inspect, types } = process.getBuiltinModule('node:util')

export {
  closeSync,
  extname,
  fileURLToPath,
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
