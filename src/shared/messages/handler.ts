// A function that tasks call: an export of a file.
export interface Handler {
  /** An absolute path. */
  filename: string
  name: string
}
