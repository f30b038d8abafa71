const { appendFileSync } = require('node:fs')
const { threadId } = require('node:worker_threads')

appendFileSync(process.env.FAULT_FACTS, `evaluated ${process.pid}-${threadId}\n`)
throw new Error('broken at load')
