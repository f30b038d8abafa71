// Functions for the tests of lido/tinypool, which run with the package tinypool, too.
import { existsSync, writeFileSync } from 'node:fs'
import { threadId, workerData } from 'node:worker_threads'

export default ({ a, b }) => a + b
export const echo = value => value
export const typeOf = value => Object.prototype.toString.call(value)
export const fail = () => {
  throw new RangeError('the number is too large')
}
export const exit = () => process.exit(3)
export const spin = file => {
  writeFileSync(file, 'started')
  for (;;);
}
export const worker = () => ({
  state: process.__tinypool_state__,
  workerData,
  id: `${process.pid} ${threadId}`,
})
let count = 0
export const countCalls = () => ++count
export const untilTold = ({ port }) => new Promise(resolve => port.once('message', resolve))
export const untilFile = async file => {
  while (!existsSync(file)) await new Promise(resolve => setTimeout(resolve, 5))
  return 'seen'
}
export const answers = () =>
  new Promise(resolve => {
    process.on('message', function listener(message) {
      if (message?.__tinypool_worker_message__) return
      process.off('message', listener)
      process.send(`answer to ${message}`)
      resolve('done')
    })
    process.send('listening')
  })
export const writeFile = ({ file }) => {
  globalThis.file = file
}
export const teardown = () => {
  if (globalThis.file) writeFileSync(globalThis.file, 'teardown')
}
export const bytes = length => {
  const view = new Uint8Array(length).fill(7)
  globalThis.view = view
  return view
}
