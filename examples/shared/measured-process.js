// Measures the event loop of a program that does not know it is measured. load.js runs this file in a child process, and this file
// loads the program that MEASURED_PROGRAM names. In a cluster each process runs this file. The first process reports the worst
// figures of all.
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

/** The first process of a cluster only distributes connections. */
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
