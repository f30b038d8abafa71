// How much of its run time the pool's only handler is active, in percent.

export function atWorkPercent(pool) {
  const [handler] = pool?.stats().handlers ?? []
  return handler === undefined ? null : (100 * handler.activeMs) / handler.runMs
}
