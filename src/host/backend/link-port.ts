// The host's end of the channel to a worker of this process, whichever thread that has.
import type { MessagePort } from 'node:worker_threads'
import type { ToHost, ToWorker } from '../../shared/messages/messages.js'
import type { TransferItem } from '../../shared/messages/move.js'
import { MessageChannel, receiveMessageOnPort } from '../../shared/platform/host-node-modules.js'
import type { LinkListener } from './backend.js'

export class LinkPort {
  /** The worker's end. */
  readonly workerPort: MessagePort
  readonly #port: MessagePort
  readonly #listener: LinkListener

  constructor(listener: LinkListener) {
    const { port1, port2 } = new MessageChannel()
    this.workerPort = port2
    this.#port = port1
    this.#listener = listener
    port1.on('message', (message: ToHost) => listener.onMessage(message))
    port1.on('messageerror', () => listener.onUnreadable())
    port1.unref()
  }

  post(message: ToWorker, transferList?: readonly TransferItem[]): void {
    if (transferList === undefined) this.#port.postMessage(message)
    else this.#port.postMessage(message, transferList as TransferItem[])
  }

  /** What the worker still said before its end counts: an answer given is an answer. */
  close(): void {
    for (let last = this.#receive(); last !== undefined; last = this.#receive()) {
      this.#listener.onMessage(last.message)
    }
    this.#port.close()
  }

  /** The next message that can be read; those that cannot are passed over. */
  #receive(): { message: ToHost } | undefined {
    for (;;) {
      try {
        return receiveMessageOnPort(this.#port)
      } catch {}
    }
  }
}
