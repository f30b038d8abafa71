// Where this door's files are. The worker's side is the same for both builds, and written out as bundlers expect it.
export const parserUrl: URL = new URL('./parser.js', import.meta.url)

/** From where the packages that the user has are looked up. */
export const doorUrl: string = import.meta.url
