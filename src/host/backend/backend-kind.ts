// The kinds of workers.
export type BackendKind = 'thread' | 'process' | 'inline'
