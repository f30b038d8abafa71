// Warns about maps that nobody reads. Such a map runs no task. Warns once for each thread of the program.

/** Maps that nobody has read or awaited yet. A map itself may be collected, so the set has a token for each. */
const unread = new Set<object>()
let hasWarned = false

/** The collector has freed a map. Its token tells whether it was ever read. */
const collected = new FinalizationRegistry<object>(token => {
  if (unread.has(token)) warn()
})

/** Begins to watch a new map. Returns the function to call when somebody reads the map or ends it. */
export function watchUnread(map: object): () => void {
  if (hasWarned) return () => {}
  const token = {}
  if (unread.size === 0) process.on('beforeExit', warn)
  unread.add(token)
  collected.register(map, token, token)
  return () => {
    if (!unread.delete(token)) return
    collected.unregister(token)
    if (unread.size === 0) process.off('beforeExit', warn)
  }
}

/** Further maps need no watch: the warning appears once. */
function warn(): void {
  hasWarned = true
  unread.clear()
  process.off('beforeExit', warn)
  process.emitWarning(
    'A map was never read, so it ran no task. Await it for an array of its results, or read it with for await.',
    { type: 'LidoWarning', code: 'LIDO_UNREAD_MAP' },
  )
}
