// The suites in the order in which they run, and which part of each belongs to the fast tier (`npm test`).

/** All cores compute already, so parallel garbage collection would only take time from them. */
const oneCollector = ['--single-threaded-gc']
/** Most objects of these suites are short-lived. In a large young space they die before they are copied. */
const largeYoungSpace = ['--max-semi-space-size=64']

/**
 * `limitMs` is the limit of one file. `fast` says what the fast tier runs: these `files` (default: all), with this `env`.
 * The second tier runs the other files. It runs all files where the fast tier has an `env`, since that makes tests smaller.
 */
export const suites = {
  unit: { folder: 'build/unit/src', isDeep: true, limitMs: 60_000, fast: {} },
  architecture: { folder: 'test/architecture', limitMs: 120_000, fast: {} },
  model: {
    folder: 'build/unit/test/model',
    limitMs: 300_000,
    nodeArgs: ['--conditions=model', ...oneCollector, ...largeYoungSpace],
    fast: { files: ['orders.test.js'] },
  },
  simulation: {
    folder: 'build/unit/test/simulation',
    limitMs: 300_000,
    nodeArgs: ['--conditions=simulation', ...oneCollector, ...largeYoungSpace],
    fast: { files: ['first-seeds.test.js'], env: { LIDO_SEEDS: '1000' } },
  },
  codec: {
    folder: 'test/codec',
    limitMs: 180_000,
    fast: { env: { LIDO_SEED: '1', LIDO_VALUES: '5000', LIDO_DAMAGED_MESSAGES: '50' } },
  },
  journey: { folder: 'test/journey', limitMs: 120_000, fast: { files: ['backends.test.js'] } },
  package: {
    folder: 'test/package',
    limitMs: 180_000,
    fast: { files: ['docs.test.js', 'doors.test.js', 'mistakes.test.js', 'readme.test.js'] },
  },
  conformance: { folder: 'test/conformance', limitMs: 240_000 },
  matrix: { folder: 'test/matrix', limitMs: 300_000 },
  faults: { folder: 'test/faults', isDeep: true, limitMs: 300_000 },
  frameworks: { folder: 'test/frameworks', limitMs: 180_000 },
  examples: { folder: 'test/examples', limitMs: 420_000 },
  bench: { folder: 'test/bench', limitMs: 300_000 },
  compat: { folder: 'test/compat', limitMs: 420_000, program: 'test/compat/run-suite.js' },
}

/** These suites need the compiled tests in build/unit. */
export const compiled = ['unit', 'codec', 'model', 'simulation', 'matrix']

/** What a tier runs of a suite, or `null`: whether it takes a file, and which environment it sets. */
export function partOf(suite, tier) {
  const { fast } = suite
  if (tier === 'all') return { takes: () => true, env: {} }
  if (tier === 'fast') {
    if (fast === undefined) return null
    return { takes: name => fast.files?.includes(name) ?? true, env: fast.env ?? {} }
  }
  if (fast === undefined || fast.env !== undefined) return { takes: () => true, env: {} }
  if (fast.files === undefined) return null
  return { takes: name => !fast.files.includes(name), env: {} }
}
