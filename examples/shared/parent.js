// The connection of a child process to its parent: the settings from the parent, and the messages to it. See child.js.
import { once } from 'node:events'

export async function meetParent() {
  if (!process.send) throw new Error('main.js starts this file as a child process; run main.js instead')
  process.on('disconnect', () => process.exit())
  const [{ settings }] = await once(process, 'message')
  return settings
}

export function tellParent(message) {
  process.send(message)
}

export function answerParent(answers) {
  process.on('message', async ({ kind }) => {
    const answer = await answers[kind]?.()
    if (answer) process.send(answer)
  })
}
