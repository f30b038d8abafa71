// Keeps the measure of the event loop around a program that knows nothing of it, for load.js: a child process runs this file, and
// this file the program that MEASURED_PROGRAM names. Where the program is a cluster, each process of it comes by here, and the
// first one answers for all of them with what was worst.
import cluster from 'node:cluster'
import { once } from 'node:events'
import { pathToFileURL } from 'node:url'
import { EventLoopDelay } from './event-loop-delay.js'
import { answerParent } from './parent.js'

const delay = new EventLoopDelay()

answerParent({
  async measure() {
    if (!leads()) await delay.start()
    else await askAll('measure')
    return { kind: 'measuring' }
  },
  async report() {
    const loopDelayMs = leads() ? worst(await askAll('report')) : await delay.stop()
    return { kind: 'measured', loopDelayMs }
  },
})

await import(pathToFileURL(process.env.MEASURED_PROGRAM).href)

/** The first process of a cluster only hands out connections. */
function leads() {
  return cluster.isPrimary && Object.keys(cluster.workers).length > 0
}

function askAll(kind) {
  return Promise.all(
    Object.values(cluster.workers).map(async worker => {
      worker.send({ kind })
      return (await once(worker, 'message'))[0]
    }),
  )
}

function worst(answers) {
  const most = name => Math.max(...answers.map(({ loopDelayMs }) => loopDelayMs[name]))
  return { p50: most('p50'), p99: most('p99'), max: most('max') }
}
