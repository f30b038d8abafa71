// What the end of a worker came of that could not even begin.
/** A file of lido's own is not where its program runs. */
export class OwnFileError extends Error {
  /** @param path `''`: nobody knows where it would be */
  constructor(path: string) {
    super(
      `${path === '' ? "lido's own files cannot be found" : `${path} is not there, which is one of lido's own files`}: the program was bundled and they were left behind. Leave lido out of the bundle (esbuild: packages: 'external'; webpack: externals; Rollup: external), and install it where the program runs.`,
    )
    this.name = 'OwnFileError'
  }
}
