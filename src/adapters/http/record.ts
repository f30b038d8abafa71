// Facts about option objects that several adapters need.

/** True for a value that can have options. The pool refuses other values with its own message. */
export function isRecord(value: unknown): boolean {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** The options of a plugin that Fastify itself reads. */
export const fastifysOwn = ['prefix', 'logLevel', 'logSerializers']
