// What a port would make of a value, made here: the getters of the user's that are asked for it run now.
import { MessageChannel, receiveMessageOnPort } from 'node:worker_threads'
import { type Unsendable, unsendable } from './assignment.js'

let channel: MessageChannel | null = null

/** The value itself where none are asked, or where this thread could not read a copy. */
export function copied(value: unknown): { copy: unknown; problem?: Unsendable } {
  if (typeof value !== 'object' || ArrayBuffer.isView(value)) return { copy: value }
  channel ??= new MessageChannel()
  try {
    channel.port1.postMessage(value)
  } catch (failure) {
    return { copy: value, problem: unsendable(failure, value) }
  }
  try {
    const received = receiveMessageOnPort(channel.port2)
    return { copy: received === undefined ? value : received.message }
  } catch {
    return { copy: value }
  }
}
