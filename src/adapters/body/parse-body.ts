// Parses a body according to its plan. Runs in a worker for large bodies and on the host for small bodies.
import { isGraphDeeper, isTextDeeper, isValueDeeper } from './depth.js'
import { type BodyFunctions, loadFunctions, plainIssues } from './functions.js'
import type { ParsePlan, WorkerOutcome } from './parse-plan.js'
import {
  Interruption,
  interrupting,
  LineError,
  parseJson,
  parseLines,
  type Reviver,
  textOf,
} from './parse-text.js'
import { mayHavePrototypeKeys, withoutPrototypeKeys } from './prototype-keys.js'

/**
 * Rejects with the error of a user's function. After the outcome `notCarried` the caller must parse the bytes in its
 * own thread. That calls the user's functions again.
 * @param carriedDepth the depth of nesting up to which a value can cross threads
 */
export async function parseBody(
  bytes: Uint8Array,
  plan: ParsePlan,
  carriedDepth: number,
): Promise<WorkerOutcome> {
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
  // `parse` has already checked the depth of this value.
  else if (value === outcome.value) return outcome
  const isCarried = carriedDepth === Number.POSITIVE_INFINITY || !isGraphDeeper(carriedDepth, value)
  return isCarried ? { kind: 'value', value } : { kind: 'notCarried', bytes }
}

function parse(
  bytes: Uint8Array,
  plan: ParsePlan,
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
    // With `select`, its result crosses threads instead of this value.
    const isWhole = !functions?.select && carriedDepth < plan.maxDepth
    const isDeeper = reviver === null ? isValueDeeper : isGraphDeeper
    return isWhole && isDeeper(carriedDepth, value) ? { kind: 'notCarried', bytes } : { kind: 'value', value }
  } catch (problem) {
    if (problem instanceof Interruption) {
      if (problem.thrown === null) return { kind: 'tooDeep' }
      throw withClientStatus(problem.thrown.value)
    }
    const line = problem instanceof LineError ? problem.line : 0
    const message = problem instanceof Error ? problem.message : String(problem)
    return { kind: 'malformed', message, line, bytes }
  }
}

/** An error of the reviver without a status gets the status 400, as in body-parser. */
function withClientStatus(thrown: unknown): unknown {
  if (
    thrown instanceof Error &&
    !('status' in thrown) &&
    !('statusCode' in thrown) &&
    Object.isExtensible(thrown)
  )
    Object.assign(thrown, { expose: true, statusCode: 400, status: 400, type: 'entity.parse.failed' })
  return thrown
}

function parsed(text: string, plan: ParsePlan, given: Reviver | null): { value: unknown } | null {
  const reviver = given === null ? null : interrupting(given)
  const checked = mayHavePrototypeKeys(text, plan)
    ? (value: unknown) => withoutPrototypeKeys(value, plan, reviver && new Set())
    : (value: unknown) => value
  if (plan.format === 'json') return { value: checked(parseJson(text, plan, reviver)) }
  const parse = (line: string) => {
    // Each line is checked alone: an open bracket of one line does not count for the next.
    if (isTextDeeper(plan.maxDepth, line)) throw new Interruption(null)
    return checked(JSON.parse(line, reviver ?? undefined))
  }
  const values = parseLines(text, plan.maxLines, parse)
  return values === null ? null : { value: values }
}
