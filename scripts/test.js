// Runs the tests and adds them up; the last line is `N passed, N failed, N skipped`.
//   node scripts/test.js                   build, lint, type check, then every suite
//   node scripts/test.js unit journey      build, then these suites only
//   --built                                take dist/ and build/unit as they are
import { spawn } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join, relative } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { parseArgs } from 'node:util'

const root = dirname(dirname(fileURLToPath(import.meta.url)))
const require = createRequire(import.meta.url)
const countReporter = pathToFileURL(join(root, 'scripts', 'count-reporter.js')).href

// In the order in which they run: the quick ones first. `limitMs` is for one file.
const suites = {
  unit: { folder: 'build/unit/src', isDeep: true, limitMs: 60_000 },
  model: { folder: 'build/unit/test/model', limitMs: 300_000, nodeArgs: ['--conditions=model'] },
  simulation: {
    folder: 'build/unit/test/simulation',
    limitMs: 300_000,
    nodeArgs: ['--conditions=simulation'],
  },
  architecture: { folder: 'test/architecture', limitMs: 60_000 },
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
const programLimitMs = 420_000

const { values: flags, positionals: asked } = readArguments()
const total = { passed: 0, failed: 0, skipped: 0 }
const summary = []
for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => process.exit(1))

if (!flags.built) await prepare()
for (const name of asked.length === 0 ? Object.keys(suites) : asked) await runSuite(name, suites[name])
report()

function readArguments() {
  const names = Object.keys(suites).join(', ')
  try {
    const parsed = parseArgs({
      allowPositionals: true,
      options: { built: { type: 'boolean', default: false } },
    })
    const unknown = parsed.positionals.find(name => !Object.hasOwn(suites, name))
    if (unknown === undefined) return parsed
    console.error(`There is no suite '${unknown}'. The suites are: ${names}.`)
  } catch (problem) {
    console.error(
      `${problem.message}\nUse: node scripts/test.js [--built] [suite]…   The suites are: ${names}.`,
    )
  }
  process.exit(2)
}

/** A build that fails ends the run: results of a stale one would mislead. Untidy code still runs. */
async function prepare() {
  await step('build', ['scripts/build.js'])
  if (asked.length === 0) {
    const biome = join(dirname(require.resolve('@biomejs/biome/package.json')), 'bin', 'biome')
    await step('lint', [biome, 'check', '--error-on-warnings', '.'], true)
  }
  if (
    asked.length > 0 &&
    !asked.some(name => ['unit', 'codec', 'model', 'simulation', 'matrix'].includes(name))
  )
    return
  rmSync(join(root, 'build', 'unit'), { recursive: true, force: true })
  await step('type check', [require.resolve('typescript/bin/tsc'), '-p', 'tsconfig.test.json'])
  // The tests' own build finds its own files, and under the conditions `model` and `simulation` theirs.
  writeFileSync(
    join(root, 'build', 'unit', 'package.json'),
    `${JSON.stringify({ type: 'module', imports: { '#atomics': { model: './src/testing/model-atomics.js', simulation: './src/testing/interrupted-atomics.js', default: './src/shared/base/atomics.js' } } })}\n`,
  )
}

async function step(title, args, mayGoOn = false) {
  heading(title)
  const { exitCode } = await runNode(args, programLimitMs)
  if (exitCode === 0) return
  count(title, { failed: 1, problems: [`exit code ${exitCode}`] })
  if (mayGoOn) return
  report()
  process.exit(1)
}

async function runSuite(name, suite) {
  heading(name)
  if (suite.program !== undefined) await runProgram(name, suite.program)
  const files = testFiles(suite)
  if (files.length > 0) return await runFiles(name, suite, files)
  if (suite.isOptional) console.log(`no tests in ${suite.folder}`)
  else count(name, { failed: 1, problems: [`no tests in ${suite.folder}`] })
}

function testFiles({ folder, isDeep = false }) {
  const directory = join(root, folder)
  if (!existsSync(directory)) return []
  return readdirSync(directory, { recursive: isDeep, withFileTypes: true })
    .filter(entry => entry.isFile() && entry.name.endsWith('.test.js'))
    .map(entry => relative(root, join(entry.parentPath ?? entry.path, entry.name)))
    .sort()
}

async function runFiles(name, { limitMs, nodeArgs = [] }, files) {
  const counted = join(root, 'build', 'test', `${name}.json`)
  mkdirSync(dirname(counted), { recursive: true })
  rmSync(counted, { force: true })
  const { exitCode } = await runNode(
    [
      '--enable-source-maps',
      ...nodeArgs,
      '--test',
      '--test-concurrency=3',
      `--test-timeout=${limitMs}`,
      '--test-reporter=spec',
      '--test-reporter-destination=stdout',
      `--test-reporter=${countReporter}`,
      `--test-reporter-destination=${counted}`,
      ...files,
    ],
    limitMs * files.length,
  )
  const counts = readCounts(counted)
  if (counts === undefined)
    return count(name, { failed: 1, problems: [`the runner broke off, exit code ${exitCode}`] })
  if (exitCode !== 0 && counts.failed === 0) complain(counts, `exit code ${exitCode}`)
  if (counts.passed + counts.failed === 0) complain(counts, 'no test ran')
  count(name, counts)
}

/** The borrowed suite counts itself. What it excepts, with a reason, is neither passed nor failed here. */
async function runProgram(name, program) {
  const { exitCode, output } = await runNode([program], programLimitMs, true)
  const line =
    /suite: (\d+) run, (\d+) passed, (\d+) excepted, (\d+) skipped by the suite itself, (\d+) failed/.exec(
      output,
    )
  if (line === null)
    return count(name, { failed: 1, problems: [`${program} broke off, exit code ${exitCode}`] })
  const [passed, excepted, skipped, failed] = line.slice(2).map(Number)
  const counts = { passed, failed, skipped: skipped + excepted, problems: [] }
  if (exitCode !== 0 && failed === 0) complain(counts, `exit code ${exitCode}`)
  if (passed + failed === 0) complain(counts, 'no test ran')
  count(name, counts)
}

/** Runs Node with these arguments, in a group of its own, so that a run over its limit ends with all it started. */
function runNode(args, limitMs, isKept = false) {
  const { NODE_TEST_CONTEXT: _, ...env } = process.env
  const hasGroups = process.platform !== 'win32'
  const child = spawn(process.execPath, args, {
    cwd: root,
    env,
    stdio: ['ignore', isKept ? 'pipe' : 'inherit', 'inherit'],
    detached: hasGroups,
  })
  const end = () => {
    try {
      process.kill(hasGroups ? -child.pid : child.pid, 'SIGKILL')
    } catch {
      // It ended by itself.
    }
  }
  process.once('exit', end)
  let output = ''
  child.stdout?.setEncoding('utf8').on('data', text => {
    process.stdout.write(text)
    output += text
  })
  return new Promise((resolve, reject) => {
    const limit = setTimeout(() => {
      console.error(`over its limit of ${limitMs / 1000} s: ended`)
      end()
    }, limitMs)
    child.on('error', reject)
    child.on('close', (exitCode, signal) => {
      clearTimeout(limit)
      process.off('exit', end)
      resolve({ exitCode: exitCode ?? signal, output })
    })
  })
}

function readCounts(file) {
  try {
    return JSON.parse(readFileSync(file, 'utf8'))
  } catch {
    return undefined
  }
}

function complain(counts, problem) {
  counts.failed++
  counts.problems.push(problem)
}

function count(name, { passed = 0, failed = 0, skipped = 0, problems = [] }) {
  total.passed += passed
  total.failed += failed
  total.skipped += skipped
  for (const problem of problems) console.log(`${name}: ${problem}`)
  summary.push({ name, passed, failed, skipped, problems })
}

function heading(title) {
  console.log(`\n── ${title} ${'─'.repeat(Math.max(0, 76 - title.length))}`)
}

function report() {
  heading('summary')
  for (const { name, passed, failed, skipped, problems } of summary) {
    const mark = failed === 0 ? 'ok  ' : 'FAIL'
    console.log(`${mark} ${name.padEnd(13)} ${passed} passed, ${failed} failed, ${skipped} skipped`)
    for (const problem of problems) console.log(`       ${problem.replaceAll('\n', '\n       ')}`)
  }
  if (total.passed + total.failed === 0) {
    console.log('no test ran')
    total.failed++
  }
  console.log(`\n${total.passed} passed, ${total.failed} failed, ${total.skipped} skipped`)
  process.exitCode = total.failed === 0 ? 0 : 1
}
