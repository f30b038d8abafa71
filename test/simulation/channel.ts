// Real message channels, read only when somebody's turn has come; used again from run to run, since they are dear.
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

/** Nobody uses any channel any more; what lies in them is gone. */
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
