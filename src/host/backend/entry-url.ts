// Where a worker's life begins. Written out as bundlers expect it, so that they see the file.
export const workerEntryUrl: URL = new URL('../../worker/entry.js', import.meta.url)
