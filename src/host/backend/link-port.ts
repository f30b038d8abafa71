// The host's end of the message channel to a thread or an inline worker.
import type { MessagePort } from 'node:worker_threads'
import type { TransferItem } from '../../api/call-options.js'
import type { ToHost, ToWorker } from '../../shared/messages/messages.js'
import { MessageChannel, receiveMessageOnPort } from '../../shared/platform/host-node-modules.js'
import type { LinkListener } from './backend.js'

export class LinkPort {
  /** The worker's end of the channel. */
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

  /** Reads the last messages of an ended worker, which may hold answers. Then closes the port. */
  close(): void {
    for (let last = this.#receive(); last !== undefined; last = this.#receive()) {
      this.#listener.onMessage(last.message)
    }
    this.#port.close()
  }

  /** Returns the next readable message. */
  #receive(): { message: ToHost } | undefined {
    for (;;) {
      try {
        return receiveMessageOnPort(this.#port)
      } catch {}
    }
  }
}
