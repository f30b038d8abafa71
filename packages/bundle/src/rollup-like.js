// What Rollup, Rolldown and Vite have in common: the handler becomes an entry chunk, so the bundler shares code between the
// handler and the program, and never puts shared code into the entry of the program.
import MagicString from 'magic-string'
import { nameOf } from './locate.js'
import { rewrite } from './rewrite.js'

// Other plug-ins, such as those of Nitro, replace `import.meta`. So strings stand for it until they are done.
const fileMark = /(["'`])lido-bundle:file:([\da-f]+)\1/g
const baseMark = /(["'`])lido-bundle:base\1/g

/**
 * The first plug-in reads modules as their author wrote them. The second one reads what other plug-ins make of them, such as the script
 * of a Vue component. A module that the first plug-in changed has no handler for the second one.
 * @param {(context: object, options?: { ssr?: boolean }) => boolean} isServer whether a module belongs to a program for Node.js
 */
export function rollupLike(isServer, extra = {}) {
  const emitted = new Set()
  /** Modules whose only `import.meta` are those of this plug-in. */
  const withoutMeta = new Set()

  function rewriteModule(context, code, id) {
    return rewrite(code, id, {
      resolve: async specifier => {
        const resolved = await context.resolve(specifier, id)
        return resolved && { path: fileOf(resolved.id), external: Boolean(resolved.external) }
      },
      emit: path => {
        const name = nameOf(path)
        const file = context.emitFile({ type: 'chunk', id: path, name, preserveSignature: 'strict' })
        emitted.add(file)
        return JSON.stringify(`lido-bundle:file:${Buffer.from(file).toString('hex')}`)
      },
      fail: (message, { line, column }) => context.error({ message, id, loc: { file: id, line, column } }),
    })
  }

  const before = {
    name: 'lido-bundle',
    enforce: 'pre',
    ...extra,
    transform: {
      order: 'pre',
      handler(code, id, options) {
        // Before other plug-ins, a component of Vue or Svelte is no script yet.
        const isScript = !id.startsWith('\0') && /\.[cm]?[jt]sx?(\?|$)/.test(id)
        return isScript && isServer(this, options) ? rewriteModule(this, code, id) : null
      },
    },
    /** With one file for everything, the worker would load the program. The development server of Nitro asks for one file. */
    outputOptions: options =>
      emitted.size > 0 && options.inlineDynamicImports ? { ...options, inlineDynamicImports: false } : null,
    resolveFileUrl: {
      order: 'pre',
      // Vite 8 makes an address of the web server otherwise.
      handler: ({ referenceId, relativePath, format }) =>
        emitted.has(referenceId) ? urlOf(relativePath, format) : null,
    },
    // For CommonJS, Rolldown warns of `import.meta`, although `resolveFileUrl` replaces it.
    onLog: (_level, { code, id }) => !(code === 'EMPTY_IMPORT_META' && withoutMeta.has(id)),
  }

  const after = {
    name: 'lido-bundle:generated',
    enforce: 'post',
    ...extra,
    transform: {
      order: 'post',
      async handler(code, id, options) {
        if (id.startsWith('\0') || !isServer(this, options)) return null
        const changed = await rewriteModule(this, code, id)
        const text = changed?.code ?? code
        if (!/import\.meta/.test(text)) withoutMeta.add(id)
        const marked = replace(
          text,
          fileMark,
          hex => `import.meta.ROLLUP_FILE_URL_${Buffer.from(hex, 'hex')}`,
        )
        // Both changes at once happen only in generated code, which has no lines of its author.
        return marked === null ? changed : { code: marked.code, map: changed === null ? marked.map : null }
      },
    },
    renderChunk: { order: 'post', handler: code => replace(code, baseMark, () => 'import.meta.url') },
  }
  return [before, after]
}

/** For a CommonJS module, the plug-in of Rollup returns the name of a module that imports it, such as `\0/work.cjs?commonjs-es-import`. */
function fileOf(id) {
  return id.startsWith('\0') && /\?commonjs-[\w-]+$/.test(id) ? id.slice(1).replace(/\?.*$/, '') : id
}

/** The path may contain placeholders of the bundler, so only the characters with a meaning in a URL change. */
function urlOf(relativePath, format) {
  const path = JSON.stringify(relativePath.replace(/[%?#]/g, encodeURIComponent))
  const base = format === 'cjs' ? 'require("node:url").pathToFileURL(__filename)' : '"lido-bundle:base"'
  return `new URL(${path}, ${base}).href`
}

/** The changed code with its source map, or `null`. */
function replace(code, mark, replacement) {
  if (!code.includes('lido-bundle:')) return null
  const changed = new MagicString(code)
  for (const match of code.matchAll(mark)) {
    changed.update(match.index, match.index + match[0].length, replacement(match[2]))
  }
  return changed.hasChanged()
    ? { code: changed.toString(), map: changed.generateMap({ hires: 'boundary' }) }
    : null
}
