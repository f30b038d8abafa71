import { createWebpackPlugin } from 'unplugin'
import { webpackLike } from './webpack-like.js'

const lidoBundle = createWebpackPlugin(() => webpackLike())

export { lidoBundle as default, lidoBundle as 'module.exports' }
