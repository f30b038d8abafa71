// Where a worker's life begins, on each backend. Written out as bundlers expect it, so that they see the files.
export const workerEntryUrl = (): URL => new URL('../../worker/entry.js', import.meta.url)
export const processEntryUrl = (): URL => new URL('../../worker/process-entry.js', import.meta.url)
export const inlineEntryUrl = (): URL => new URL('../../worker/inline-entry.js', import.meta.url)
