// What a message is, by one name: most are objects, a bell is a word.
import type { ToHost, ToWorker } from './messages.js'

type KindOf<Message> = Message extends { kind: infer Kind } ? Kind : Message

export function kindOf<Message extends ToHost | ToWorker>(message: Message): KindOf<Message> {
  return (typeof message === 'string' ? message : message.kind) as KindOf<Message>
}
