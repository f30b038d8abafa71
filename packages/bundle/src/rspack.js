import { createRspackPlugin } from 'unplugin'
import { webpackLike } from './webpack-like.js'

const lidoBundle = createRspackPlugin(() => webpackLike())

export { lidoBundle as default, lidoBundle as 'module.exports' }
