// esbuild cannot emit an entry while it builds. So the plug-in bundles each handler in a build of its own, with the options of the
// program's build, and puts the result beside each output that names the handler.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, extname, relative, resolve } from 'node:path'
import { createEsbuildPlugin } from 'unplugin'
import { mayNameHandlers } from './find.js'
import { nameOf } from './locate.js'
import { rewrite } from './rewrite.js'

const name = 'lido-bundle'
const loaders = {
  '.js': 'js',
  '.mjs': 'js',
  '.cjs': 'js',
  '.jsx': 'jsx',
  '.ts': 'ts',
  '.mts': 'ts',
  '.cts': 'ts',
  '.tsx': 'tsx',
}

const lidoBundle = createEsbuildPlugin(() => ({ name, esbuild: { setup } }))

export { lidoBundle as default, lidoBundle as 'module.exports' }

function setup(build) {
  const { bundle, platform, format } = build.initialOptions
  // Without `bundle`, the handler stays a file of its own. Other platforms and formats are for browsers.
  if (!bundle || !/^(node|neutral)$/.test(platform) || format === 'iife') return
  build.initialOptions.metafile = true
  // It leads to lido's entry points for bundlers. Versions such as 0.14 do not set it themselves.
  build.initialOptions.conditions ??= ['module']
  const handlers = new Handlers(build)
  build.onStart(() => handlers.clear())
  rewriteModules(build, handlers, async changed => ({ ...changed, ...(await handlers.settled()) }))
  build.onEnd(result => handlers.emit(result))
}

/** @param {(changed: object) => object | Promise<object>} finish adds to the result of a module that names handlers */
function rewriteModules(build, handlers, finish = changed => changed) {
  build.onLoad({ filter: /\.[cm]?[jt]sx?$/, namespace: 'file' }, async ({ path }) => {
    const code = readFileSync(path, 'utf8')
    if (!mayNameHandlers(code, path)) return undefined
    const errors = []
    const changed = await rewrite(code, path, {
      root: handlers.root,
      resolve: specifier => resolveWith(build, specifier, path),
      emit: handler => handlers.add(handler, path),
      fail: (text, { line, column }) => {
        const lineText = code.split('\n')[line - 1]
        errors.push({ text, location: { file: relative(handlers.root, path), line, column, lineText } })
      },
    })
    if (errors.length > 0) return { errors }
    if (changed === null) return undefined
    const contents = `${changed.code}\n//# sourceMappingURL=${changed.map.toUrl()}\n`
    const extension = extname(path)
    const loader = build.initialOptions.loader?.[extension] ?? loaders[extension]
    return finish({ contents, loader, resolveDir: dirname(path) })
  })
}

async function resolveWith(build, specifier, importer) {
  const { errors, path, external } = await build.resolve(specifier, {
    importer,
    resolveDir: dirname(importer),
    namespace: 'file',
    kind: 'import-statement',
  })
  return errors.length > 0 ? null : { path, external }
}

/** The handlers that one build names, and the builds of their own. */
class Handlers {
  #build
  /** `path of a module → paths of the handlers that it names` */
  #namedBy = new Map()
  /** `path of a handler → folder → its build` */
  #builds = new Map()

  constructor(build) {
    this.#build = build
    this.root = build.initialOptions.absWorkingDir ?? process.cwd()
  }

  clear() {
    this.#namedBy.clear()
    this.#builds.clear()
  }

  /** Returns the expression for the URL of the emitted file. The file is always in the folder of the output that names the handler. */
  add(handler, importer) {
    if (!this.#namedBy.has(importer)) this.#namedBy.set(importer, new Set())
    this.#namedBy.get(importer).add(handler)
    // Starts now, so the watch mode knows the files of the handler. The folder is right unless outputs are in several folders.
    this.#bundle(handler, this.#likelyFolder())
    const { format } = this.#build.initialOptions
    const file = `./${nameOf(handler, this.root)}${this.#extension()}`
    return format === 'esm'
      ? `new URL(${JSON.stringify(file)}, import.meta.url).href`
      : `require('node:url').pathToFileURL(__dirname + ${JSON.stringify(file.slice(1))}).href`
  }

  /** The extension of the outputs. Node reads a handler in the format of the program only if both have the same one. */
  #extension() {
    const { outExtension, outfile } = this.#build.initialOptions
    return outExtension?.['.js'] ?? /\.[cm]?js$/.exec(outfile ?? '')?.[0] ?? '.js'
  }

  #likelyFolder() {
    const { outdir, outfile } = this.#build.initialOptions
    return resolve(this.root, outdir ?? dirname(outfile ?? 'file'))
  }

  #bundle(handler, folder) {
    if (!this.#builds.has(handler)) this.#builds.set(handler, new Map())
    const builds = this.#builds.get(handler)
    if (builds.has(folder)) return builds.get(folder)
    const { entryPoints, stdin, outfile, outbase, globalName, ...options } = this.#build.initialOptions
    const started = this.#build.esbuild.build({
      ...options,
      entryPoints: { [nameOf(handler, this.root)]: handler },
      entryNames: '[dir]/[name]',
      outdir: folder,
      outExtension: { ...options.outExtension, '.js': this.#extension() },
      write: false,
      metafile: true,
      logLevel: 'silent',
      plugins: options.plugins?.map(plugin => (plugin.name === name ? this.#inner() : withoutEnds(plugin))),
    })
    // `settled()` and `emit()` report a failure.
    started.catch(() => {})
    builds.set(folder, started)
    return started
  }

  /** The plug-in in the build of a handler. It may name handlers, also itself, and each is built once. */
  #inner() {
    return { name, setup: build => rewriteModules(build, this) }
  }

  /** Resolves when no build is running, with the messages and the sources of all of them. */
  async settled() {
    const messages = { errors: [], warnings: [], watchFiles: [] }
    const seen = new Set()
    for (;;) {
      const next = [...this.#builds.values()]
        .flatMap(builds => [...builds.values()])
        .filter(each => !seen.has(each))
      if (next.length === 0) return messages
      for (const started of next) {
        seen.add(started)
        const { errors = [], warnings, metafile } = await started.catch(asFailure)
        messages.errors.push(...errors)
        messages.warnings.push(...warnings)
        for (const input of Object.keys(metafile?.inputs ?? {}))
          messages.watchFiles.push(resolve(this.root, input))
      }
    }
  }

  /** Adds the files of the handlers to the result of the program's build. */
  async emit(result) {
    if (result.errors.length > 0 || !result.metafile) return
    const done = new Set()
    const todo = this.#namedIn(result.metafile)
    for (const { handler, folder } of todo) {
      const key = `${handler}\n${folder}`
      if (done.has(key)) continue
      done.add(key)
      const { outputFiles, metafile } = await this.#bundle(handler, folder)
      this.#write(result, outputFiles)
      Object.assign(result.metafile.outputs, metafile.outputs)
      for (const [path, input] of Object.entries(metafile.inputs)) result.metafile.inputs[path] ??= input
      todo.push(...this.#namedIn(metafile))
    }
  }

  /** The handlers that the outputs of a build name, with the folder of each output. */
  #namedIn({ outputs }) {
    const named = []
    for (const [output, { inputs }] of Object.entries(outputs)) {
      const folder = dirname(resolve(this.root, output))
      for (const input of Object.keys(inputs)) {
        for (const handler of this.#namedBy.get(resolve(this.root, input)) ?? [])
          named.push({ handler, folder })
      }
    }
    return named
  }

  #write(result, outputFiles) {
    if (this.#build.initialOptions.write === false) {
      const known = new Set(result.outputFiles.map(({ path }) => path))
      result.outputFiles.push(...outputFiles.filter(({ path }) => !known.has(path)))
      return
    }
    for (const { path, contents } of outputFiles) {
      mkdirSync(dirname(path), { recursive: true })
      writeFileSync(path, contents)
    }
  }
}

/** A plug-in that cleans a folder or starts the program again does so for the program only. */
function withoutEnds(plugin) {
  const ignore = () => {}
  return {
    ...plugin,
    setup: build => plugin.setup({ ...build, onStart: ignore, onEnd: ignore, onDispose: ignore }),
  }
}

function asFailure({ message, errors = [{ text: message }], warnings = [] }) {
  return { errors, warnings }
}
