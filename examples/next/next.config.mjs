export default {
  // Next.js must load lido from node_modules, because lido starts its workers from files of its own.
  serverExternalPackages: ['lido'],
  output: 'standalone',
  // A deployment in one folder needs the handlers too. Next.js finds lido by itself.
  outputFileTracingIncludes: { '/*': ['./workers/**'] },
}
