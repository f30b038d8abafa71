// The nursery is collected when it is asked for, on the runtime at hand.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { test } from 'node:test'
import { Worker } from 'node:worker_threads'

/** In a thread of its own: what a test runner leaves in the nursery meanwhile would be counted. */
async function inThread(body: string): Promise<unknown> {
  const source = `
    const { parentPort } = require('node:worker_threads')
    import('${new URL('./nursery.js', import.meta.url)}').then(async ({ Nursery }) => {
      const nursery = new Nursery()
      const kept = []
      const keepMore = () => kept.push(Array.from({ length: 100 }, (_, index) => ({ index })))
      parentPort.postMessage(await (async () => { ${body} })())
    })
  `
  const worker = new Worker(source, { eval: true })
  const [answer] = await once(worker, 'message')
  return answer
}

test('it is full when much has come that lives, and not when it has just been collected', async () => {
  const answer = await inThread(`
    const before = nursery.isFull
    while (!nursery.isFull) keepMore()
    nursery.collect(() => true)
    return [before, nursery.isFull]
  `)
  assert.deepEqual(answer, [false, false])
})

test('collecting it is a collection of the runtime’s, one of the young', async () => {
  const isYoung = await inThread(`
    const { constants, PerformanceObserver } = require('node:perf_hooks')
    while (!nursery.isFull) keepMore()
    const seen = new Promise(resolve => {
      const observer = new PerformanceObserver(list => resolve(list.getEntries().map(({ detail }) => detail.kind)))
      observer.observe({ entryTypes: ['gc'] })
    })
    nursery.collect(() => true)
    return (await seen).some(kind => kind === constants.NODE_PERFORMANCE_GC_MINOR)
  `)
  assert.equal(isYoung, true)
})

test('one that may not go on stays full, and goes on where it was', async () => {
  const answer = await inThread(`
    while (!nursery.isFull) keepMore()
    const used = () => require('node:v8').getHeapSpaceStatistics().find(space => space.space_name === 'new_space').space_used_size
    const before = used()
    let steps = 0
    for (; steps < 1000 && nursery.isFull; steps++) nursery.collect(() => false)
    return [steps > 1, nursery.isFull, used() < before]
  `)
  assert.deepEqual(answer, [true, false, true])
})

test('what lives is whole afterwards', async () => {
  const isWhole = await inThread(`
    for (let round = 0; round < 5; round++) {
      while (!nursery.isFull) keepMore()
      nursery.collect(() => true)
    }
    return kept.every(list => list.length === 100 && list.every((entry, index) => entry.index === index))
  `)
  assert.equal(isWhole, true)
})
