// What Rollup, Rolldown and Vite have in common: the handler becomes an entry chunk, so the bundler shares code between the
// handler and the program, and never puts shared code into the entry of the program.
import { nameOf } from './locate.js'
import { rewrite } from './rewrite.js'

/**
 * The first plug-in reads modules as their author wrote them. The second one reads what other plug-ins make of them, such as the script
 * of a Vue component. A module that the first plug-in changed has no handler for the second one.
 * @param {(context: object, options?: { ssr?: boolean }) => boolean} isServer whether a module belongs to a program for Node.js
 */
export function rollupLike(isServer, extra = {}) {
  const emitted = new Set()
  /** Modules whose only `import.meta` are those of this plug-in. */
  const withoutMeta = new Set()
  return ['pre', 'post'].map(order => ({
    name: order === 'pre' ? 'lido-bundle' : 'lido-bundle:generated',
    enforce: order,
    ...extra,
    resolveFileUrl: {
      order,
      // Vite 8 makes an address of the web server otherwise.
      handler: ({ referenceId, relativePath, format }) =>
        emitted.has(referenceId) ? urlOf(relativePath, format) : null,
    },
    // For CommonJS, Rolldown warns of `import.meta`, although `resolveFileUrl` replaces it.
    onLog: (_level, { code, id }) => !(code === 'EMPTY_IMPORT_META' && withoutMeta.has(id)),
    transform: {
      order,
      async handler(code, id, options) {
        if (id.startsWith('\0') || !isServer(this, options)) return null
        // Before other plug-ins, a component of Vue or Svelte is no script yet.
        if (order === 'pre' && !/\.[cm]?[jt]sx?(\?|$)/.test(id)) return null
        const changed = await rewrite(code, id, {
          resolve: async specifier => {
            const resolved = await this.resolve(specifier, id)
            return resolved && { path: fileOf(resolved.id), external: Boolean(resolved.external) }
          },
          emit: path => {
            const name = nameOf(path)
            const file = this.emitFile({ type: 'chunk', id: path, name, preserveSignature: 'strict' })
            emitted.add(file)
            return `import.meta.ROLLUP_FILE_URL_${file}`
          },
          fail: (message, { line, column }) => this.error({ message, id, loc: { file: id, line, column } }),
        })
        if (changed && !/import\.meta(?!\.ROLLUP_FILE_URL_)/.test(changed.code)) withoutMeta.add(id)
        return changed
      },
    },
  }))
}

/** For a CommonJS module, the plug-in of Rollup returns the name of a module that imports it, such as `\0/work.cjs?commonjs-es-import`. */
function fileOf(id) {
  return id.startsWith('\0') && /\?commonjs-[\w-]+$/.test(id) ? id.slice(1).replace(/\?.*$/, '') : id
}

/** The path may contain placeholders of the bundler, so only the characters with a meaning in a URL change. */
function urlOf(relativePath, format) {
  const path = JSON.stringify(relativePath.replace(/[%?#]/g, encodeURIComponent))
  const base = format === 'cjs' ? 'require("node:url").pathToFileURL(__filename)' : 'import.meta.url'
  return `new URL(${path}, ${base}).href`
}
