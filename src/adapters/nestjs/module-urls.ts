/** Packages of the user are resolved from here. */
export const packageUrl: string = import.meta.url
