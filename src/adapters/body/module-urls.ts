// Only entry points for bundlers load this file. It has the form in which lido-bundle and bundlers find a worker's file.
export function fileUrl(): URL {
  return new URL('./parser.js', import.meta.url)
}
