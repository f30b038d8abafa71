// Mistakes that somebody might make in the host, each as a change to the compiled code, with the cases that must find it and
// what they must say.
export const mistakes = [
  {
    title: 'a listener stays on the signal of a task that is settled',
    file: 'host/task/signal-watch.js',
    edits: [["signal.removeEventListener('abort', watched.onAbort)", 'void watched']],
    cases: 'lane / returns / signal after / lives / open',
    says: /listeners are left on the signal/,
  },
  {
    title: 'a forced close lets run what waits',
    file: 'host/pool/closing.js',
    edits: [["dispatcher.rejectWaiting(new PoolClosedError('forced'))", '0']],
    cases: 'port / throws / uncancelled / lives / force queued',
    says: /subject: forced was due, it came to answer/,
  },
  {
    title: 'a close forgets the workers that still start',
    file: 'host/workers/supervisor.js',
    edits: [['this.#end(worker, error);', 'if (worker.isReady)\n            this.#end(worker, error);']],
    cases: 'port / returns / signal starting / lives / force',
    says: /the thread of worker 1 is left|workers are left/,
  },
  {
    title: 'an answer settles a task that was cancelled before',
    file: 'host/dispatch/lane-collector.js',
    edits: [["if (task.state === 'settled')", 'if (false)']],
    cases: 'lane / returns / signal answering / lives / open',
    says: /invariant/,
  },
]
