/** What may hold options; what may not, the pool refuses in its own words. */
export function isRecord(value: unknown): boolean {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** What Fastify itself reads from a plugin's options. */
export const fastifysOwn = ['prefix', 'logLevel', 'logSerializers']
