// What the end of a worker came of that could not even begin.
/** A file of lido's own is not where its program runs. */
export class OwnFileError extends Error {
  /** @param path `''`: nobody knows where it would be */
  constructor(path: string) {
    super(
      `${path === '' ? "Where lido's own files are cannot be told" : `lido's own file ${path} is not there`}: the program was bundled, and they were not. Leave lido out of the bundle (esbuild: packages: 'external'; webpack: externals; Rollup: external), and install it where the program runs.`,
    )
    this.name = 'OwnFileError'
  }
}
