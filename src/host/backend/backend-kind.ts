// Where workers live.
export type BackendKind = 'thread' | 'process' | 'inline'
