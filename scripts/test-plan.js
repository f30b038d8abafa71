// The suites, in the order in which they run: the quick ones first. `limitMs` is for one file.
// `isPatient`: it only computes, and no clock decides anything in it. Such suites run beside all others, at the lowest priority:
// they take what those leave of the machine while they wait, and their limit is for the slowest of that.
export const suites = {
  unit: { folder: 'build/unit/src', isDeep: true, limitMs: 60_000 },
  model: {
    folder: 'build/unit/test/model',
    limitMs: 900_000,
    nodeArgs: ['--conditions=model'],
    isPatient: true,
  },
  simulation: {
    folder: 'build/unit/test/simulation',
    limitMs: 900_000,
    nodeArgs: ['--conditions=simulation'],
    isPatient: true,
  },
  architecture: { folder: 'test/architecture', limitMs: 900_000, isPatient: true },
  journey: { folder: 'test/journey', limitMs: 120_000 },
  conformance: { folder: 'test/conformance', limitMs: 240_000 },
  matrix: { folder: 'test/matrix', limitMs: 300_000 },
  faults: { folder: 'test/faults', isDeep: true, limitMs: 300_000 },
  frameworks: { folder: 'test/frameworks', limitMs: 180_000 },
  examples: { folder: 'test/examples', limitMs: 420_000 },
  bench: { folder: 'test/bench', limitMs: 300_000 },
  codec: { folder: 'test/codec', limitMs: 900_000, isPatient: true },
  package: { folder: 'test/package', limitMs: 180_000 },
  compat: { folder: 'test/compat', limitMs: 420_000, program: 'test/compat/run-suite.js' },
}

/** These take the tests' own build. */
export const compiled = ['unit', 'codec', 'model', 'simulation', 'matrix']
