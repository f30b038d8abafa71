import { defineConfig } from 'vite'

// The build has no imports of packages, so it also runs in an empty folder.
export default defineConfig(({ command }) => ({
  build: { ssr: 'src/entry-server.ts' },
  ssr: { noExternal: command === 'build' ? true : undefined },
}))
