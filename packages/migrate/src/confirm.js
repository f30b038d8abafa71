// Asks a person at a terminal.
import { createInterface } from 'node:readline/promises'

/** Resolves to true if the person answers yes. Without a terminal nobody is asked, and the answer is no. */
export async function confirm(question, input, output) {
  if (!input.isTTY || !output.isTTY) return false
  const questions = createInterface({ input, output })
  const answer = await questions.question(`${question} (y/N) `)
  questions.close()
  return /^y(es)?$/i.test(answer.trim())
}
