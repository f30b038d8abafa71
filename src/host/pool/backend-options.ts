// The option `backend`.
import type { BackendKind } from '../backend/backend-kind.js'
import { refuse } from './option-checks.js'

const kinds: readonly unknown[] = ['thread', 'process', 'inline'] satisfies BackendKind[]

export function resolveBackend(given: unknown, option = 'backend'): BackendKind {
  if (given === undefined) return 'thread'
  return kinds.includes(given)
    ? (given as BackendKind)
    : refuse(option, given, "'thread', 'process' or 'inline'")
}
