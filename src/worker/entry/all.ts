// The code of all kinds of workers, in one file. The first file of a worker loads it and calls one of these functions.
export { serveInline } from './inline.js'
export { startProcess } from './process.js'
export { startThread } from './thread.js'
