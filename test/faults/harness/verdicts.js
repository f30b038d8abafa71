// How a scenario ends when it does not simply return, and the words for it in the table.

export const ok = 'ok'
export const failed = 'FAIL'
export const hung = 'HANG'
export const crashed = 'CRASH'
export const unsupported = '–'
export const skipped = 'skip'

class Ending extends Error {}

/** The pool did something that a user does not deserve. */
export class Failure extends Ending {
  verdict = failed
}

/** The pool gave no answer. */
export class NoAnswer extends Ending {
  verdict = hung
}

/** The pool has no such feature, so there is nothing to judge. */
export class Unsupported extends Ending {
  verdict = unsupported
}

/** This machine cannot judge it. */
export class Skipped extends Ending {
  verdict = skipped
}
