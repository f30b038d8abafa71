// Runs before the program of `npx lido trace app.js`, and starts the recording. Node runs it in worker threads too, where it does nothing.
const { isMainThread } = require('node:worker_threads')

const recording = process.env.LIDO_TRACE
if (isMainThread && recording !== undefined) {
  // Processes that the program starts must not write the same file.
  delete process.env.LIDO_TRACE
  const flag = process.execArgv.findIndex(
    (text, index, all) => text === '--require' && all[index + 1] === __filename,
  )
  if (flag >= 0) process.execArgv.splice(flag, 2)
  require('../dist/cjs/inspection.js').recordProgram(JSON.parse(recording))
}
