// Requests one address at fixed intervals, as a load balancer does. It does not wait for the last response, so a slow response
// does not hide the next one. All requests of the run count, however late their responses come.
import { once } from 'node:events'
import { Agent, get } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { Latencies } from './latencies.js'

const everyMs = 20
const timeoutMs = 60_000

/** `{ latencyMs, failures }` */
export async function askHealth(url, durationSeconds) {
  // With `fifo` the connections take turns. Otherwise one process of a cluster would get all requests.
  const agent = new Agent({ keepAlive: true, scheduling: 'fifo' })
  const latencies = new Latencies()
  const asked = []
  let failures = 0

  async function ask() {
    const askedAt = performance.now()
    try {
      const [response] = await once(get(url, { agent, timeout: timeoutMs }).on('timeout', giveUp), 'response')
      response.resume()
      await once(response, 'end')
      if (response.statusCode !== 200) throw new Error(`answered with ${response.statusCode}`)
      latencies.record(performance.now() - askedAt)
    } catch {
      failures++
    }
  }

  const endsAt = performance.now() + 1000 * durationSeconds
  do {
    asked.push(ask())
    await sleep(everyMs)
  } while (performance.now() < endsAt)
  await Promise.all(asked)
  agent.destroy()
  return { latencyMs: latencies.figures(), failures }
}

function giveUp() {
  this.destroy(new Error(`no answer within ${timeoutMs} ms`))
}
