// Keeps the bundle of the service: its program and its worker, each an entry of its own.
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
