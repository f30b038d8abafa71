// The options of a pool for each way in which handlers run, by the words for a test title.

export const backends = {
  'threads with shared memory': {},
  'threads with messages': { transport: 'messages' },
  processes: { backend: 'process' },
  'the host thread': { backend: 'inline' },
}
