// How much of its run time the pool's only handler is active, in percent.

export function atWorkPercent(pool) {
  const [handler] = pool?.stats().handlers ?? []
  // A handler has no cost until a worker has measured it.
  const isMeasured = handler !== undefined && handler.runMs !== null
  return isMeasured ? (100 * handler.activeMs) / handler.runMs : null
}
