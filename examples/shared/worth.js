// Keeps the question whether a worker is worth it: how much of the time that the pool's only handler runs, it works.

export function atWorkPercent(pool) {
  const [handler] = pool?.stats().handlers ?? []
  return handler === undefined ? null : (100 * handler.activeMs) / handler.runMs
}
