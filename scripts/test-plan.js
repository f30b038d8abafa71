// Lists the suites in their order, and the part of each suite that the fast tier (`npm test`) runs.

/** The tests already use all cores, so parallel garbage collection would only slow them down. */
const oneCollector = ['--single-threaded-gc']
/** Most objects of these suites are short-lived. In a large young generation the collector never copies them. */
const largeYoungSpace = ['--max-semi-space-size=64']

/**
 * `limitMs` is the time limit of one file. The fast tier runs the `files` of `fast` (default: all) with its `env`.
 * The second tier runs the other files. If `fast` has an `env`, which makes the tests smaller, the second tier runs
 * all files. A suite with `onRequest` runs only when it is named.
 */
export const suites = {
  unit: { folder: 'build/unit/src', isDeep: true, limitMs: 60_000, fast: {} },
  architecture: { folder: 'test/architecture', limitMs: 120_000, fast: {} },
  model: {
    folder: 'build/unit/test/model',
    limitMs: 480_000,
    nodeArgs: ['--conditions=model', ...oneCollector, ...largeYoungSpace],
    fast: { files: ['orders.test.js'] },
  },
  simulation: {
    folder: 'build/unit/test/simulation',
    limitMs: 480_000,
    nodeArgs: ['--conditions=simulation', ...oneCollector, ...largeYoungSpace],
    fast: { files: ['first-seeds.test.js'], env: { LIDO_SEEDS: '1000' } },
  },
  codec: {
    folder: 'test/codec',
    limitMs: 300_000,
    fast: {
      env: { LIDO_SEED: '1', LIDO_VALUES: '5000', LIDO_DAMAGED_MESSAGES: '50', LIDO_DAMAGED_RINGS: '20' },
    },
  },
  journey: { folder: 'test/journey', limitMs: 300_000, fast: { files: ['backends.test.js'] } },
  package: {
    folder: 'test/package',
    limitMs: 180_000,
    fast: {
      files: ['docs.test.js', 'doors.test.js', 'figures.test.js', 'mistakes.test.js', 'readme.test.js'],
    },
  },
  conformance: { folder: 'test/conformance', limitMs: 240_000 },
  matrix: { folder: 'test/matrix', limitMs: 300_000 },
  faults: { folder: 'test/faults', isDeep: true, limitMs: 300_000 },
  frameworks: { folder: 'test/frameworks', limitMs: 180_000 },
  bullmq: { folder: 'test/bullmq', limitMs: 180_000 },
  examples: { folder: 'test/examples', limitMs: 420_000 },
  bench: { folder: 'test/bench', limitMs: 300_000 },
  site: { folder: 'test/site', limitMs: 180_000 },
  setups: { folder: 'test/setups', limitMs: 300_000 },
  compat: { folder: 'test/compat', limitMs: 420_000, program: 'test/compat/run-suite.js' },
  /** Values of 2 to 4 GiB. Nearly all the time goes into copies of memory. */
  memory: { folder: 'test/memory', limitMs: 420_000, onRequest: true },
}

/** These suites need the compiled tests in build/unit. */
export const compiled = ['unit', 'codec', 'model', 'simulation', 'matrix']

/** The files of a suite that a tier runs, and the environment for them; `null` if it runs none. */
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
