export default {
  output: 'standalone',
  // A deployment in one folder needs the handlers too. Next.js finds lido by itself.
  outputFileTracingIncludes: { '/*': ['./workers/**'] },
}
