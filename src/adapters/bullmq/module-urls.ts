// The URLs of this adapter's files, in the form that bundlers recognise.
export const wrapperUrl: URL = new URL('./in-worker.js', import.meta.url)

/** Packages of the user are resolved from here. */
export const packageUrl: string = import.meta.url
