// The kinds of places where handlers run.

/** Threads of this process, processes of their own, or the host's own thread. */
export type BackendKind = 'thread' | 'process' | 'inline'
