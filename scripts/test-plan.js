// The suites, in the order in which they run: the quick ones first. `limitMs` is for one file.
/** Where all cores compute, a collector that helps itself to another one takes more than it gives. */
const frugal = ['--single-threaded-gc']
/** Millions of short-lived objects are over before such a nursery is full; what is copied out of a small one is half of the time. */
const roomy = ['--max-semi-space-size=64']

export const suites = {
  unit: { folder: 'build/unit/src', isDeep: true, limitMs: 60_000 },
  model: {
    folder: 'build/unit/test/model',
    limitMs: 300_000,
    nodeArgs: ['--conditions=model', ...frugal, ...roomy],
  },
  simulation: {
    folder: 'build/unit/test/simulation',
    limitMs: 300_000,
    nodeArgs: ['--conditions=simulation', ...frugal, ...roomy],
  },
  architecture: { folder: 'test/architecture', limitMs: 120_000 },
  journey: { folder: 'test/journey', limitMs: 120_000 },
  conformance: { folder: 'test/conformance', limitMs: 240_000 },
  matrix: { folder: 'test/matrix', limitMs: 300_000 },
  faults: { folder: 'test/faults', isDeep: true, limitMs: 300_000 },
  frameworks: { folder: 'test/frameworks', limitMs: 180_000 },
  examples: { folder: 'test/examples', limitMs: 420_000 },
  bench: { folder: 'test/bench', limitMs: 300_000 },
  codec: { folder: 'test/codec', limitMs: 180_000 },
  package: { folder: 'test/package', limitMs: 180_000 },
  compat: { folder: 'test/compat', limitMs: 420_000, program: 'test/compat/run-suite.js' },
}

/** These take the tests' own build. */
export const compiled = ['unit', 'codec', 'model', 'simulation', 'matrix']
