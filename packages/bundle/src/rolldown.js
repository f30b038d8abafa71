import { createRolldownPlugin } from 'unplugin'
import { rollupLike } from './rollup-like.js'

const lidoBundle = createRolldownPlugin(() => rollupLike(() => true))

export { lidoBundle as default, lidoBundle as 'module.exports' }
