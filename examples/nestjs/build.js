// Bundles the service. The program and its worker are an entry each.
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'

const here = new URL('./', import.meta.url)

export async function bundleInto(outdir) {
  await build({
    entryPoints: ['main', 'pi.worker'].map(name => fileURLToPath(new URL(`src/${name}.ts`, here))),
    tsconfigRaw: { compilerOptions: { experimentalDecorators: true } },
    bundle: true,
    packages: 'external',
    platform: 'node',
    format: 'esm',
    target: 'node20',
    outdir,
    logLevel: 'error',
  })
}

/** Bundles into a folder that is removed when this process exits. Returns the path of the program. */
export async function bundle() {
  // Inside the repository, so that the program finds its packages.
  const builds = fileURLToPath(new URL('./build/', here))
  mkdirSync(builds, { recursive: true })
  const folder = mkdtempSync(builds)
  process.on('exit', () => rmSync(folder, { recursive: true, force: true }))
  await bundleInto(folder)
  return join(folder, 'main.js')
}
