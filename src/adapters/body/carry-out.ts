// A plan carried out: from the bytes of a body to its value, or to what is wrong with it. The same in a worker and in place.
import { isTextDeeper, isValueDeeper } from './depth.js'
import { type BodyFunctions, loadFunctions } from './functions.js'
import { parseBody, type Reviver } from './json-text.js'
import { LineError, parseLines } from './lines.js'
import type { Plan, WorkerOutcome } from './plan.js'
import { isSuspect, withoutPoison } from './poisoning.js'
import { textOf } from './text.js'

/**
 * @param carriedDepth how deep a value may nest to cross to where it is wanted
 * Rejects with what the user's functions threw.
 */
export async function carryOut(bytes: Uint8Array, plan: Plan, carriedDepth: number): Promise<WorkerOutcome> {
  const functions = plan.functions === null ? null : await loadFunctions(plan.functions)
  const outcome = parse(bytes, plan, functions, carriedDepth)
  if (functions === null || outcome.kind !== 'value') return outcome
  let { value } = outcome
  if (functions.validate !== null) {
    const validated = await functions.validate(value)
    if (validated.issues !== null) return { kind: 'invalid', issues: validated.issues }
    value = validated.value
  }
  return functions.select === null
    ? { kind: 'value', value }
    : { kind: 'value', value: await functions.select(value) }
}

function parse(
  bytes: Uint8Array,
  plan: Plan,
  functions: BodyFunctions | null,
  carriedDepth: number,
): WorkerOutcome {
  const text = textOf(bytes, plan.charset, plan.charsets)
  if (isTextDeeper(plan.maxDepth, text)) return { kind: 'tooDeep' }
  try {
    const found = parsed(text, plan, functions?.reviver ?? null)
    if (found === null) return { kind: 'tooManyLines' }
    const { value } = found
    // What `select` returns is what crosses then.
    const isWhole = !functions?.select && carriedDepth < plan.maxDepth
    return isWhole && isValueDeeper(carriedDepth, value)
      ? { kind: 'notCarried', bytes }
      : { kind: 'value', value }
  } catch (problem) {
    // Also what a reviver throws: body-parser answers it like a text that is no JSON.
    const line = problem instanceof LineError ? problem.line : 0
    const message = problem instanceof Error ? problem.message : String(problem)
    return { kind: 'malformed', message, line, bytes }
  }
}

function parsed(text: string, plan: Plan, reviver: Reviver | null): { value: unknown } | null {
  const checked = isSuspect(text, plan)
    ? (value: unknown) => withoutPoison(value, plan)
    : (value: unknown) => value
  if (plan.format === 'json') return { value: checked(parseBody(text, plan, reviver)) }
  const parse = (line: string) => checked(JSON.parse(line, reviver ?? undefined))
  const values = parseLines(text, plan.maxLines, parse)
  return values === null ? null : { value: values }
}
