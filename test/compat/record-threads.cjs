// Preloaded into a program under test. Records the file of every worker thread that the program starts.
'use strict'

const { appendFileSync } = require('node:fs')
const { syncBuiltinESMExports } = require('node:module')
const threads = require('node:worker_threads')

const { Worker } = threads

threads.Worker = class extends Worker {
  constructor(filename, options) {
    appendFileSync(process.env.LIDO_THREAD_RECORD, `${filename}\n`)
    super(filename, options)
  }
}
syncBuiltinESMExports()
