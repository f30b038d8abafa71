// The URLs of this adapter's files, in the form that bundlers recognise.
export const parserUrl: URL = new URL('./parser.js', import.meta.url)

/** Packages of the user are resolved from here. */
export const packageUrl: string = import.meta.url
