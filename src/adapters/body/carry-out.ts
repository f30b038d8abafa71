// A plan carried out: from the bytes of a body to its value, or to what is wrong with it. The same in a worker and in place.
import { isGraphDeeper, isTextDeeper, isValueDeeper } from './depth.js'
import { type BodyFunctions, loadFunctions, plainIssues } from './functions.js'
import { Interruption, interrupting } from './interruption.js'
import { parseBody, type Reviver } from './json-text.js'
import { LineError, parseLines } from './lines.js'
import type { Plan, WorkerOutcome } from './plan.js'
import { isSuspect, withoutPoison } from './poisoning.js'
import { textOf } from './text.js'

/**
 * @param carriedDepth how deep a value may nest to cross to where it is wanted
 * Rejects with what the user's functions threw. They are called anew where the answer is that it is `notCarried`.
 */
export async function carryOut(bytes: Uint8Array, plan: Plan, carriedDepth: number): Promise<WorkerOutcome> {
  const functions = plan.functions === null ? null : await loadFunctions(plan.functions)
  const outcome = parse(bytes, plan, functions, carriedDepth)
  if (functions === null || outcome.kind !== 'value') return outcome
  let { value } = outcome
  if (functions.validate !== null) {
    const validated = await functions.validate(value)
    if (validated.issues !== null) return { kind: 'invalid', issues: plainIssues(validated.issues) }
    value = validated.value
  }
  if (functions.select !== null) value = await functions.select(value)
  // It was looked at when it was parsed.
  else if (value === outcome.value) return outcome
  const isCarried = carriedDepth === Number.POSITIVE_INFINITY || !isGraphDeeper(carriedDepth, value)
  return isCarried ? { kind: 'value', value } : { kind: 'notCarried', bytes }
}

function parse(
  bytes: Uint8Array,
  plan: Plan,
  functions: BodyFunctions | null,
  carriedDepth: number,
): WorkerOutcome {
  const text = textOf(bytes, plan.charset, plan.charsets)
  if (plan.format === 'json' && isTextDeeper(plan.maxDepth, text)) return { kind: 'tooDeep' }
  try {
    const reviver = functions?.reviver ?? null
    const found = parsed(text, plan, reviver)
    if (found === null) return { kind: 'tooManyLines' }
    const { value } = found
    // What `select` returns is what crosses then.
    const isWhole = !functions?.select && carriedDepth < plan.maxDepth
    const isDeeper = reviver === null ? isValueDeeper : isGraphDeeper
    return isWhole && isDeeper(carriedDepth, value) ? { kind: 'notCarried', bytes } : { kind: 'value', value }
  } catch (problem) {
    if (problem instanceof Interruption) {
      if (problem.thrown === null) return { kind: 'tooDeep' }
      throw blamedOnBody(problem.thrown.value)
    }
    const line = problem instanceof LineError ? problem.line : 0
    const message = problem instanceof Error ? problem.message : String(problem)
    return { kind: 'malformed', message, line, bytes }
  }
}

/** A reviver refuses what it is given, unless it says whose fault it was: so body-parser has it. */
function blamedOnBody(thrown: unknown): unknown {
  if (
    thrown instanceof Error &&
    !('status' in thrown) &&
    !('statusCode' in thrown) &&
    Object.isExtensible(thrown)
  )
    Object.assign(thrown, { expose: true, statusCode: 400, status: 400, type: 'entity.parse.failed' })
  return thrown
}

function parsed(text: string, plan: Plan, given: Reviver | null): { value: unknown } | null {
  const reviver = given === null ? null : interrupting(given)
  const checked = isSuspect(text, plan)
    ? (value: unknown) => withoutPoison(value, plan, reviver && new Set())
    : (value: unknown) => value
  if (plan.format === 'json') return { value: checked(parseBody(text, plan, reviver)) }
  const parse = (line: string) => {
    // Each by itself: what one leaves open is not the depth of the next.
    if (isTextDeeper(plan.maxDepth, line)) throw new Interruption(null)
    return checked(JSON.parse(line, reviver ?? undefined))
  }
  const values = parseLines(text, plan.maxLines, parse)
  return values === null ? null : { value: values }
}
