// The URLs of this adapter's files, in the form that bundlers recognise.
export const questionUrl: URL = new URL('./in-worker.js', import.meta.url)
