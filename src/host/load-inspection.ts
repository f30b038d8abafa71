// Loads the parts that look into a pool. A program that uses none of them never reads their file.

/** A file of its own beside `index.js`. */
export function loadInspection(): Promise<typeof import('../inspection.js')> {
  return import('../inspection.js')
}
