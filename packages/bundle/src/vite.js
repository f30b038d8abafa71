import { createVitePlugin } from 'unplugin'
import { rollupLike } from './rollup-like.js'

/** Vite's development server runs the handler from its source file, so the plug-in changes builds only. */
const lidoBundle = createVitePlugin(() => rollupLike(isServer, { vite: { apply: 'build' } }))

/** Libraries of Vite are not for browsers if they contain a pool. */
function isServer({ environment }, { ssr } = {}) {
  const { consumer, build } = environment?.config ?? {}
  return ssr === true || consumer === 'server' || Boolean(build?.lib)
}

export { lidoBundle as default, lidoBundle as 'module.exports' }
