/** What may hold options; what may not, the pool refuses in its own words. */
export function isRecord(value: unknown): boolean {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
