// State machines as tables: for each state, the states that may follow it.
import { invariant } from './invariant.js'

export type StateTable<State extends string> = Readonly<Record<State, readonly State[]>>

/**
 * Moves `subject` to the state `next`. Throws when the table does not allow it.
 * @param noun names the subject in the error
 */
export function moveState<State extends string>(
  table: StateTable<State>,
  subject: { state: State },
  next: State,
  noun: string,
): void {
  const allowed = table[subject.state]
  if (!allowed.includes(next)) {
    invariant(
      false,
      `a ${noun} moves from ${subject.state} to one of [${allowed.join(', ')}], not to ${next}`,
    )
  }
  subject.state = next
}
