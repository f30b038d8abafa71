// Mistakes in the host. Each is a change to the compiled code, with the cases that must find it and the text that they must print.
export const mistakes = [
  {
    title: 'a listener stays on the signal of a settled task',
    file: 'host/task/signal-watch.js',
    edits: [["signal.removeEventListener('abort', watched.onAbort)", 'void watched']],
    cases: 'lane / returns / signal after / lives / open',
    says: /listeners are left on the signal/,
  },
  {
    title: 'close() with force runs queued tasks',
    file: 'host/engine/close.js',
    edits: [["cancelling.rejectWaiting(new PoolClosedError('forced'))", '0']],
    cases: 'port / throws / uncancelled / lives / force queued',
    says: /subject: the outcome is answer, expected forced/,
  },
  {
    title: 'close() does not stop workers that are starting',
    file: 'host/workers/worker-group.js',
    edits: [
      ["worker.stop('close', error);", "if (worker.isReady)\n            worker.stop('close', error);"],
    ],
    cases: 'port / returns / signal starting / lives / force',
    says: /the thread of worker 1 still runs|workers are left/,
  },
  {
    title: 'an answer settles a cancelled task',
    file: 'host/lane/collect.js',
    edits: [["if (task.state !== 'settled')", 'if (true)']],
    cases: 'lane / returns / signal answering / lives / open',
    says: /invariant/,
  },
]
