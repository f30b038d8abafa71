// What webpack and Rspack have in common: each handler becomes an entry of the compilation, with its exports as a library. The entries
// are added after the program's modules are known.
import { readFileSync } from 'node:fs'
import { relative } from 'node:path'
import { mayNameHandlers } from './find.js'
import { nameOf } from './locate.js'
import { rewrite } from './rewrite.js'

const name = 'lido-bundle'

export function webpackLike() {
  /** The compilers that this plug-in was applied to: `compiler → Handlers`. */
  const handlersOf = new WeakMap()
  const apply = compiler => handlersOf.set(compiler, new Handlers(compiler))
  return {
    name,
    // Before the loaders of TypeScript, which may change `import()`.
    enforce: 'pre',
    webpack: apply,
    rspack: apply,
    // Next.js has modules without a file.
    transformInclude: id => /\.[cm]?[jt]sx?($|\?)/.test(id),
    async transform(code, id) {
      if (!mayNameHandlers(code, id)) return null
      const { compiler, loaderContext } = this.getNativeBuildContext()
      const handlers = handlersOf.get(compiler)
      if (handlers === undefined || !handlers.isForNode) return null
      const paths = []
      const changed = await rewrite(code, id, {
        root: compiler.context,
        resolve: specifier => resolveWith(loaderContext, specifier),
        emit: path => {
          paths.push(path)
          return `new URL(${JSON.stringify(handlers.fileOf(path))}, __webpack_base_uri__).href`
        },
        fail: message => {
          throw Object.assign(new Error(message), { hideStack: true })
        },
      })
      handlers.set(loaderContext, paths)
      return changed
    },
  }
}

function resolveWith(loaderContext, specifier) {
  const resolve = loaderContext.getResolve({ dependencyType: 'esm' })
  return new Promise(resolved => {
    resolve(loaderContext.context, specifier, (error, path) => resolved(error || !path ? null : { path }))
  })
}

/** The handlers of one compiler. */
class Handlers {
  #compiler
  /** The handlers that a module names: `module → paths`. A module that the compiler takes from its memory is not read again. */
  #byModule = new Map()

  constructor(compiler) {
    this.#compiler = compiler
    compiler.hooks.afterEnvironment.tap(name, () => this.#enableLibrary())
    compiler.hooks.finishMake.tapPromise(name, compilation => this.#addEntries(compilation))
  }

  get isForNode() {
    const { externalsPresets, target } = this.#compiler.options
    return Boolean(externalsPresets?.node) || /node|electron/.test(String(target))
  }

  get #isModule() {
    return Boolean(this.#compiler.options.output.module)
  }

  get #library() {
    return this.#isModule ? 'module' : 'commonjs2'
  }

  /** The path of the emitted file, from the folder of the output. Extension and folder are those of the program. */
  fileOf(path) {
    const { filename } = this.#compiler.options.output
    const template = typeof filename === 'string' ? filename.replace(/\?.*$/, '') : ''
    const folder = /^[^[]*\//.exec(template)?.[0] ?? ''
    const extension = /\.[cm]?js$/.exec(template)?.[0] ?? '.js'
    return folder + nameOf(path, this.#compiler.context) + extension
  }

  set(loaderContext, paths) {
    this.#byModule.set(loaderContext.resourcePath, paths)
    // The cache on the disk keeps this beside the module.
    const { buildInfo } = loaderContext._module ?? {}
    if (buildInfo && paths.length > 0) buildInfo.lidoHandlers = paths
  }

  /** Not by EnableLibraryPlugin: applied here, Rspack runs it too early, and the handler loses its exports. */
  #enableLibrary() {
    const { output } = this.#compiler.options
    output.enabledLibraryTypes = [...new Set([...(output.enabledLibraryTypes ?? []), this.#library])]
  }

  /** A handler may itself name handlers, so the entries of one round may lead to another round. */
  async #addEntries(compilation) {
    const added = new Set()
    if (compilation.addEntry === undefined && this.#pathsIn(compilation).length > 0) {
      throw new Error(
        'lido-bundle cannot add entries in this version of Rspack. Install @rspack/core 1.4 or newer.',
      )
    }
    for (;;) {
      const paths = this.#pathsIn(compilation).filter(path => !added.has(path))
      if (paths.length === 0) return
      await Promise.all(paths.map(path => this.#addEntry(compilation, added.add(path) && path)))
    }
  }

  #pathsIn(compilation) {
    const paths = new Set()
    for (const module of compilation.modules) {
      const known = module.buildInfo?.lidoHandlers ?? this.#byModule.get(module.resource) ?? []
      for (const path of known) paths.add(path)
    }
    return [...paths]
  }

  #addEntry(compilation, path) {
    const { webpack, context } = this.#compiler
    // A relative path, because `externals` often names everything that starts without a dot.
    let request = `./${relative(context, path).replaceAll('\\', '/')}`
    // Rspack makes no default export of `module.exports`. A module that imports it has one.
    if (this.#isModule && webpack.rspackVersion !== undefined && isCommonJs(path)) {
      const source = JSON.stringify(path)
      request = `data:text/javascript,import handler from ${source}; export default handler; export * from ${source}`
    }
    const options = {
      name: nameOf(path, context),
      filename: this.fileOf(path),
      library: { type: this.#library },
    }
    const dependency = webpack.EntryPlugin.createDependency(request, options)
    return new Promise((resolve, reject) => {
      compilation.addEntry(context, dependency, options, error => (error ? reject(error) : resolve()))
    })
  }
}

function isCommonJs(path) {
  if (path.endsWith('.cjs')) return true
  const code = readFileSync(path, 'utf8')
  return /\bexports\b/.test(code) && !/^\s*(import|export)\b/m.test(code)
}
