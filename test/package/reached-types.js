// Finds the declaration files that a program loads with one declaration file of the package.
import { readFileSync } from 'node:fs'
import ts from 'typescript'

/** The URLs of the files that this one refers to, directly and through others, with itself. Packages are left out. */
export function reachedTypes(url, found = new Set()) {
  if (found.has(url.href)) return found
  found.add(url.href)
  // TypeScript also finds types that are written as `import('./file.js')`, and skips examples in comments.
  for (const { fileName } of ts.preProcessFile(readFileSync(url, 'utf8')).importedFiles)
    if (fileName.startsWith('.')) reachedTypes(new URL(fileName.replace(/js$/, 'd.ts'), url), found)
  return found
}
