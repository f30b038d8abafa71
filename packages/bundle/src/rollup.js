import { createRollupPlugin } from 'unplugin'
import { rollupLike } from './rollup-like.js'

const lidoBundle = createRollupPlugin(() => rollupLike(() => true))

export { lidoBundle as default, lidoBundle as 'module.exports' }
