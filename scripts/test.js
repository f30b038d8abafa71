// Runs the tests and adds up their counts. The last line is `N passed, N failed, N skipped`.
//   node scripts/test.js                   build, lint, type check, then the fast tier
//   node scripts/test.js --tier rest       build, then all tests that are not in the fast tier
//   node scripts/test.js --tier all        both. No tier has the suite `memory`.
//   node scripts/test.js unit journey      build, then all of these suites
//   --built                                use dist/ and build/unit without building them
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join, relative } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { parseArgs } from 'node:util'
import { compiler } from './compiler.js'
import { runNode } from './node-run.js'
import { compiled, partOf, suites } from './test-plan.js'

const root = dirname(dirname(fileURLToPath(import.meta.url)))
const require = createRequire(import.meta.url)
const countReporter = pathToFileURL(join(root, 'scripts', 'count-reporter.js')).href

const programLimitMs = 420_000
const tiers = ['fast', 'rest', 'all']

const { built, tier, names } = readArguments()
const total = { passed: 0, failed: 0, skipped: 0 }
const summary = []
for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => process.exit(1))

if (!built) await prepare()
if (tier === 'fast') await runTwoAtOnce(names)
else for (const name of names) await runSuite(name)
report()

function readArguments() {
  const known = Object.keys(suites)
  try {
    const { values, positionals } = parseArgs({
      allowPositionals: true,
      options: { built: { type: 'boolean', default: false }, tier: { type: 'string', default: 'fast' } },
    })
    const unknown = positionals.find(name => !known.includes(name))
    if (unknown !== undefined) throw new Error(`Unknown suite '${unknown}'.`)
    if (!tiers.includes(values.tier)) throw new Error(`Unknown tier '${values.tier}'.`)
    if (positionals.length > 0) return { built: values.built, tier: 'all', names: positionals }
    return {
      built: values.built,
      tier: values.tier,
      names: known.filter(name => !suites[name].onRequest && partOf(suites[name], values.tier) !== null),
    }
  } catch (problem) {
    console.error(
      `${problem.message}\nUse: node scripts/test.js [--built] [--tier ${tiers.join('|')}] [suite]…\nSuites: ${known.join(', ')}.`,
    )
  }
  process.exit(2)
}

/** A failed build ends the run, because tests of an old build would mislead. A lint error does not end the run. */
async function prepare() {
  const steps = [startStep('build', ['scripts/build.js'])]
  if (tier === 'fast') {
    const biome = join(dirname(require.resolve('@biomejs/biome/package.json')), 'bin', 'biome')
    steps.push(startStep('lint', [biome, 'check', '--error-on-warnings', '.'], true))
    steps.push(startStep('prose', ['scripts/lint-prose.js'], true))
  }
  const isCompiled = names.some(name => compiled.includes(name))
  if (isCompiled) {
    rmSync(join(root, 'build', 'unit'), { recursive: true, force: true })
    steps.push(startStep('type check', [compiler, '-p', 'tsconfig.test.json']))
  }
  for (const { title, startedAt, mayFail, ended } of steps) {
    const { exitCode, output } = await ended
    heading(title)
    process.stdout.write(output)
    if (exitCode === 0) continue
    count(title, startedAt, { failed: 1, problems: [`exit code ${exitCode}`] })
    if (mayFail) continue
    report()
    process.exit(1)
  }
  if (!isCompiled) return
  // The compiled tests import compiled sources. The conditions `model` and `simulation` replace the atomics.
  writeFileSync(
    join(root, 'build', 'unit', 'package.json'),
    `${JSON.stringify({ type: 'module', imports: { '#atomics': { model: './src/testing/model-atomics.js', simulation: './src/testing/interrupted-atomics.js', default: './src/shared/platform/atomics.js' } } })}\n`,
  )
}

/** All steps run at the same time. `prepare` prints the output of each step after the step has finished. */
function startStep(title, args, mayFail = false) {
  const ended = runNode(args, { limitMs: programLimitMs, isShown: false })
  return { title, startedAt: performance.now(), mayFail, ended }
}

/** Runs two suites at a time, because a suite with few files leaves a core idle. */
async function runTwoAtOnce(names) {
  const left = [...names]
  const runNext = async () => {
    for (let name = left.shift(); name !== undefined; name = left.shift()) await runSuite(name, false)
  }
  await Promise.all([runNext(), runNext()])
}

async function runSuite(name, isShown = true) {
  const startedAt = performance.now()
  const { program } = suites[name]
  if (isShown) heading(name)
  if (program !== undefined) count(name, startedAt, await runProgram(program))
  count(name, startedAt, await runFiles(name, isShown))
}

function testFiles({ folder, isDeep = false }, takes) {
  const directory = join(root, folder)
  if (!existsSync(directory)) return []
  return readdirSync(directory, { recursive: isDeep, withFileTypes: true })
    .filter(entry => entry.isFile() && entry.name.endsWith('.test.js') && takes(entry.name))
    .map(entry => relative(root, join(entry.parentPath ?? entry.path, entry.name)).replaceAll('\\', '/'))
    .sort()
}

async function runFiles(name, isShown) {
  const { limitMs, nodeArgs = [], folder } = suites[name]
  const { takes, env } = partOf(suites[name], tier)
  const files = testFiles(suites[name], takes)
  if (files.length === 0) return { failed: 1, problems: [`no tests in ${folder}`] }
  const counted = join(root, 'build', 'test', `${name}.json`)
  mkdirSync(dirname(counted), { recursive: true })
  rmSync(counted, { force: true })
  const { exitCode, output } = await runNode(
    [
      '--enable-source-maps',
      ...nodeArgs,
      '--test',
      `--test-concurrency=${tier === 'fast' ? 2 : 3}`,
      `--test-timeout=${limitMs}`,
      '--test-reporter=spec',
      '--test-reporter-destination=stdout',
      `--test-reporter=${countReporter}`,
      `--test-reporter-destination=${counted}`,
      ...files,
    ],
    { limitMs: limitMs * files.length, isShown, env },
  )
  if (!isShown) {
    heading(name)
    process.stdout.write(output)
  }
  const counts = readCounts(counted)
  if (counts === undefined) return { failed: 1, problems: [`the runner exited early, exit code ${exitCode}`] }
  if (exitCode !== 0 && counts.failed === 0) addFailure(counts, `exit code ${exitCode}`)
  if (counts.passed + counts.failed === 0) addFailure(counts, 'no test ran')
  return counts
}

/** The suite of Piscina prints its own counts. An excepted test counts as skipped. */
async function runProgram(program) {
  const { exitCode, output } = await runNode([program], { limitMs: programLimitMs, isKept: true })
  const line =
    /suite: (\d+) run, (\d+) passed, (\d+) excepted, (\d+) skipped by the suite itself, (\d+) failed/.exec(
      output,
    )
  if (line === null) return { failed: 1, problems: [`${program} exited early, exit code ${exitCode}`] }
  const [passed, excepted, skipped, failed] = line.slice(2).map(Number)
  const counts = { passed, failed, skipped: skipped + excepted, problems: [] }
  if (exitCode !== 0 && failed === 0) addFailure(counts, `exit code ${exitCode}`)
  if (passed + failed === 0) addFailure(counts, 'no test ran')
  return counts
}

function readCounts(file) {
  try {
    return JSON.parse(readFileSync(file, 'utf8'))
  } catch {
    return undefined
  }
}

function addFailure(counts, problem) {
  counts.failed++
  counts.problems.push(problem)
}

function count(name, startedAt, { passed = 0, failed = 0, skipped = 0, problems = [] }) {
  total.passed += passed
  total.failed += failed
  total.skipped += skipped
  for (const problem of problems) console.log(`${name}: ${problem}`)
  const seconds = Math.round((performance.now() - startedAt) / 1000)
  summary.push({ name, passed, failed, skipped, problems, seconds })
}

function heading(title) {
  console.log(`\n── ${title} ${'─'.repeat(Math.max(0, 76 - title.length))}`)
}

function report() {
  heading('summary')
  for (const { name, passed, failed, skipped, problems, seconds } of summary) {
    const mark = failed === 0 ? 'ok  ' : 'FAIL'
    console.log(
      `${mark} ${name.padEnd(13)} ${passed} passed, ${failed} failed, ${skipped} skipped, ${seconds} s`,
    )
    for (const problem of problems) console.log(`       ${problem.replaceAll('\n', '\n       ')}`)
  }
  if (total.passed + total.failed === 0) {
    console.log('no test ran')
    total.failed++
  }
  console.log(`\n${total.passed} passed, ${total.failed} failed, ${total.skipped} skipped`)
  process.exitCode = total.failed === 0 ? 0 : 1
}
