// The functions of Node's modules that the host and workers use. An `import` of such a module reads all its exports.
// The getters of `util` and `fs` then load much code on newer versions of Node. `getBuiltinModule` does not read them.

const getBuiltinModule: typeof process.getBuiltinModule = process.getBuiltinModule
const { closeSync, existsSync, openSync, readFileSync, readSync, statSync, unlinkSync, writeSync } =
  getBuiltinModule('node:fs')
const { basename, extname, isAbsolute, join } = getBuiltinModule('node:path')
const { fileURLToPath, pathToFileURL } = getBuiltinModule('node:url')
const { inspect, types } = getBuiltinModule('node:util')

/** A function, because reading `promises` loads a module that few workers need. */
const getFsPromises = () => getBuiltinModule('node:fs').promises

/** False in Bun, whose `node:v8` has working functions `serialize()` and `deserialize()`, but no working classes. */
function hasSerializer(): boolean {
  const { Serializer } = getBuiltinModule('node:v8')
  try {
    new Serializer()
    return true
  } catch {
    return false
  }
}

/** Handlers may replace it. The environment `jsdom` of Jest has no `structuredClone`. The main context of Node always has it. */
const structuredClone: typeof globalThis.structuredClone =
  globalThis.structuredClone ?? getBuiltinModule('node:vm').runInThisContext('structuredClone')

export {
  basename,
  closeSync,
  existsSync,
  extname,
  fileURLToPath,
  getBuiltinModule,
  getFsPromises,
  hasSerializer,
  inspect,
  isAbsolute,
  join,
  openSync,
  pathToFileURL,
  readFileSync,
  readSync,
  statSync,
  structuredClone,
  types,
  unlinkSync,
  writeSync,
}
