// What a task printed is on its way before its answer is: an ending process then still shows it.
import { Writable } from 'node:stream'
import { realClock } from '../shared/base/clock.js'

const LONGEST_WAIT_MS = 100

// Asked for once: a look at `process` takes longer than a small task. They are made by the first look, not by the import.
let streams: { stdout: NodeJS.WriteStream; stderr: NodeJS.WriteStream } | null = null

/** A promise when something is still to be written, nothing otherwise. */
export function flushStdio(): Promise<unknown> | undefined {
  streams ??= { stdout: process.stdout, stderr: process.stderr }
  const { stdout, stderr } = streams
  if (stdout.writableLength === 0 && stderr.writableLength === 0) return undefined
  return Promise.race([Promise.all([written(stdout), written(stderr)]), isOver()])
}

/** Where nobody reads any more, nothing is ever written out. */
function isOver(): Promise<void> {
  return new Promise(resolve => {
    realClock.after(LONGEST_WAIT_MS, resolve)
  })
}

function written(stream: NodeJS.WriteStream): Promise<void> | undefined {
  if (stream.writableLength === 0) return undefined
  // Not `stream.write`: a handler may have put another in its place, to listen to what is printed.
  return new Promise(resolve => Writable.prototype.write.call(stream, '', 'utf8', () => resolve()))
}
