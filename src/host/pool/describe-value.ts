// A value that was given, as an error shows it.

export function describe(value: unknown): string {
  if (typeof value === 'string') return `'${value}'`
  if (typeof value === 'function') return `a function`
  if (typeof value === 'bigint') return `${value}n`
  if (value === null || typeof value !== 'object') return String(value)
  if (Array.isArray(value)) return 'an array'
  const kind: unknown = value.constructor?.name
  return typeof kind === 'string' && kind !== 'Object' ? `an instance of ${kind}` : 'an object'
}
