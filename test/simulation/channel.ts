// Real message channels. Messages are read only when the simulation decides so. Later runs reuse the channels, because creating a
// channel is slow.
import { MessageChannel, type MessagePort, receiveMessageOnPort } from 'node:worker_threads'

interface Ends {
  host: MessagePort
  worker: MessagePort
}

const spare: Ends[] = []
const used: Ends[] = []

export function takeChannel(): Ends {
  const ends = spare.pop() ?? makeChannel()
  used.push(ends)
  return ends
}

/** Empties all used channels at the end of a run, so that the next run can use them. */
export function freeChannels(): void {
  for (const ends of used) {
    while (receiveMessageOnPort(ends.host) !== undefined);
    while (receiveMessageOnPort(ends.worker) !== undefined);
    spare.push(ends)
  }
  used.length = 0
}

function makeChannel(): Ends {
  const { port1, port2 } = new MessageChannel()
  return { host: port1, worker: port2 }
}
