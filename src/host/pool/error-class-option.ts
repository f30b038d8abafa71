// The option `errorClasses`: the user's own classes, each found by its name.

import { InvalidOptionError } from '../../shared/errors/pool-errors.js'
import { type ErrorClass, ErrorClasses, problemWithClass } from '../../shared/errors/serialize-error.js'
import { describe } from './describe-value.js'
import { refuse } from './option-checks.js'

export function resolveErrorClasses(given: unknown): ErrorClasses {
  if (given === undefined) return new ErrorClasses()
  if (!Array.isArray(given)) return refuse('errorClasses', given, 'an array of classes that extend Error')
  const names = new Set<string>()
  for (const [index, errorClass] of given.entries()) {
    const problem =
      problemWithClass(errorClass) ??
      (names.has(errorClass.name) ? `has the name of another one, '${errorClass.name}'` : null)
    if (problem !== null) {
      throw new InvalidOptionError(
        'errorClasses',
        `The option 'errorClasses' must hold classes that extend Error, each with a name of its own; item ${index}, ${describe(errorClass)}, ${problem}.`,
      )
    }
    names.add(errorClass.name)
  }
  return new ErrorClasses(given as ErrorClass[])
}
