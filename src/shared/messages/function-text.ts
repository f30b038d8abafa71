// What host and workers know about functions that are sent as text.

/** Stands for the file of such functions. The payload is an array: the arguments, then the text. */
export const FUNCTION_TEXT = 'the text of pool.call()'

/** What tools insert into functions. The worker declares it around each function: esbuild's `keepNames`, and Vite's `import()`. */
export const functionHelpers: ReadonlyMap<string, string> = new Map([
  ['__name', "(target, value) => Object.defineProperty(target, 'name', { value, configurable: true })"],
  ['__vite_ssr_dynamic_import__', 'specifier => import(specifier)'],
])

export function adviceForVariable(name: string): string {
  return `Pass '${name}' as an argument, or export the function from a file and call it with run().`
}
