// The combinations that are not cases, each with the reason.
import { endOf } from './axes.js'
import { isReached, verdictOf } from './oracle.js'

const deadly = ['exits', 'crashes', 'exitsAtStart', 'exitsIdle']

export const exclusions = [
  {
    because: 'an inline worker cannot exit or crash without the whole program',
    excludes: ({ backend, fate }) => backend === 'inline' && deadly.includes(fate),
  },
  {
    because:
      'a task without an answer never settles when it is not cancelled and its worker and its pool live',
    excludes: theCase => verdictOf(theCase) === null,
  },
  {
    because: 'the task settles before that moment, or never reaches it',
    excludes(theCase) {
      const { subject } = verdictOf(theCase)
      return theCase.happenings.some(({ at }) => !isReached(subject, at))
    },
  },
  {
    because: 'a closing pool stops its idle workers before a worker can exit by itself',
    excludes(theCase) {
      const end = endOf(theCase)
      return theCase.fate === 'exitsIdle' && end !== null && end.at !== 'after'
    },
  },
]

/** The reason for the exclusion, or `null`. */
export function whyExcluded(theCase) {
  return exclusions.find(({ excludes }) => excludes(theCase))?.because ?? null
}
