// The version of lido, which instrumentations name. `package.json` has the same one; a test compares them.
export const VERSION = '0.1.0'
