// Combinations that are no case, each with the reason. What is left is played.
import { endOf } from './axes.js'
import { isReached, verdictOf } from './oracle.js'

const deadly = ['exits', 'crashes', 'exitsAtStart', 'exitsIdle']

export const exclusions = [
  {
    because: 'inline nothing ends a worker but its pool: what exits or crashes there is the program itself',
    excludes: ({ backend, fate }) => backend === 'inline' && deadly.includes(fate),
  },
  {
    because:
      'a task that neither answers, nor is cancelled, nor loses its worker or its pool, runs for ever, as it should',
    excludes: theCase => verdictOf(theCase) === null,
  },
  {
    because: 'the task is settled before that moment, or never comes to it',
    excludes(theCase) {
      const { subject } = verdictOf(theCase)
      return theCase.happenings.some(({ at }) => !isReached(subject, at))
    },
  },
  {
    because: 'a closing pool has ended its idle workers before one could exit by itself',
    excludes(theCase) {
      const end = endOf(theCase)
      return theCase.fate === 'exitsIdle' && end !== null && end.at !== 'after'
    },
  },
]

/** The reason why it is no case, or null. */
export function whyExcluded(theCase) {
  return exclusions.find(({ excludes }) => excludes(theCase))?.because ?? null
}
