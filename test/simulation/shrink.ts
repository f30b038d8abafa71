// Makes a failing programme smaller. Removes parts as long as the programme still fails in the same way.
import type { Programme, Step } from './programme.js'
import { simulate } from './simulate.js'

const MOST_TRIES = 400

export async function shrink(failing: Programme): Promise<Programme> {
  const kind = kindOf((await simulate(failing)).wrong)
  let smallest = failing
  let tries = 0
  const stillFails = async (programme: Programme): Promise<boolean> => {
    if (++tries > MOST_TRIES || kindOf((await simulate(programme)).wrong) !== kind) return false
    smallest = programme
    return true
  }
  for (
    let size = Math.ceil(failing.events.length / 2);
    size >= 1;
    size = size === 1 ? 0 : Math.ceil(size / 2)
  ) {
    for (let at = 0; at < smallest.events.length; ) {
      const events = smallest.events.filter((_, index) => index < at || index >= at + size)
      if (!(await stillFails({ ...smallest, events }))) at += size
    }
  }
  await stillFails({ ...smallest, starts: [] })
  for (let index = 0; index < smallest.events.length; index++) {
    const without = (changed: Partial<Step>): Programme => ({
      ...smallest,
      events: smallest.events.map((step, at) => (at === index ? { ...step, ...changed } : step)),
    })
    await stillFails(without({ moves: 0 }))
  }
  return smallest
}

/** The problem without the numbers of calls and workers. */
function kindOf(wrong: string | null): string | null {
  return wrong === null ? null : wrong.split('\n')[0]!.replace(/\d+/g, '#')
}
