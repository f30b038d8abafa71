// The URLs of the worker entries. Each is written as `new URL(…, import.meta.url)`, so that bundlers find the files.
export const workerEntryUrl = (): URL => new URL('../../worker/entry/thread.js', import.meta.url)
export const processEntryUrl = (): URL => new URL('../../worker/entry/process.js', import.meta.url)
export const inlineEntryUrl = (): URL => new URL('../../worker/entry/inline.js', import.meta.url)
