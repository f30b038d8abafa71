// Runs the tests and adds them up; the last line is `N passed, N failed, N skipped`.
//   node scripts/test.js                   build, lint, type check, then every suite
//   node scripts/test.js unit journey      build, then these suites only
//   --built                                take dist/ and build/unit as they are
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join, relative } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { parseArgs } from 'node:util'
import { compiler } from './compiler.js'
import { runNode } from './node-run.js'
import { compiled, suites } from './test-plan.js'

const root = dirname(dirname(fileURLToPath(import.meta.url)))
const require = createRequire(import.meta.url)
const countReporter = pathToFileURL(join(root, 'scripts', 'count-reporter.js')).href

const programLimitMs = 420_000

const { values: flags, positionals: asked } = readArguments()
const total = { passed: 0, failed: 0, skipped: 0 }
const summary = []
let countedAt = performance.now()
for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => process.exit(1))

if (!flags.built) await prepare()
for (const name of asked.length === 0 ? Object.keys(suites) : asked) await runSuite(name)
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
  const isWhole = asked.length === 0
  const steps = [step('build', ['scripts/build.js'])]
  if (isWhole) {
    const biome = join(dirname(require.resolve('@biomejs/biome/package.json')), 'bin', 'biome')
    steps.push(step('lint', [biome, 'check', '--error-on-warnings', '.'], true))
  }
  const isCompiled = isWhole || asked.some(name => compiled.includes(name))
  if (isCompiled) {
    rmSync(join(root, 'build', 'unit'), { recursive: true, force: true })
    steps.push(step('type check', [compiler, '-p', 'tsconfig.test.json']))
  }
  for (const { title, mayGoOn, ended } of steps) {
    heading(title)
    const { exitCode, output } = await ended
    process.stdout.write(output)
    if (exitCode === 0) continue
    count(title, { failed: 1, problems: [`exit code ${exitCode}`] })
    if (mayGoOn) continue
    report()
    process.exit(1)
  }
  if (!isCompiled) return
  // The tests' own build finds its own files, and under the conditions `model` and `simulation` theirs.
  writeFileSync(
    join(root, 'build', 'unit', 'package.json'),
    `${JSON.stringify({ type: 'module', imports: { '#atomics': { model: './src/testing/model-atomics.js', simulation: './src/testing/interrupted-atomics.js', default: './src/shared/platform/atomics.js' } } })}\n`,
  )
}

/** All are under way at once; what each prints is shown in its turn. */
function step(title, args, mayGoOn = false) {
  return { title, mayGoOn, ended: runNode(args, { limitMs: programLimitMs, isShown: false }) }
}

async function runSuite(name) {
  countedAt = performance.now()
  heading(name)
  if (suites[name].program !== undefined) await runProgram(name, suites[name].program)
  count(name, await runFiles(name))
}

function testFiles({ folder, isDeep = false }) {
  const directory = join(root, folder)
  if (!existsSync(directory)) return []
  return readdirSync(directory, { recursive: isDeep, withFileTypes: true })
    .filter(entry => entry.isFile() && entry.name.endsWith('.test.js'))
    .map(entry => relative(root, join(entry.parentPath ?? entry.path, entry.name)))
    .sort()
}

async function runFiles(name) {
  const { limitMs, nodeArgs = [], folder } = suites[name]
  const files = testFiles(suites[name])
  if (files.length === 0) return { failed: 1, problems: [`no tests in ${folder}`] }
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
    { limitMs: limitMs * files.length },
  )
  const counts = readCounts(counted)
  if (counts === undefined) return { failed: 1, problems: [`the runner broke off, exit code ${exitCode}`] }
  if (exitCode !== 0 && counts.failed === 0) complain(counts, `exit code ${exitCode}`)
  if (counts.passed + counts.failed === 0) complain(counts, 'no test ran')
  return counts
}

/** The borrowed suite counts itself. What it excepts, with a reason, is neither passed nor failed here. */
async function runProgram(name, program) {
  const { exitCode, output } = await runNode([program], { limitMs: programLimitMs, isKept: true })
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
  const seconds = Math.round((performance.now() - countedAt) / 1000)
  countedAt = performance.now()
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
