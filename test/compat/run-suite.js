// Runs the tests that Piscina ships, unmodified, on lido/piscina. Compares the results with exceptions.json.
//   node test/compat/run-suite.js                    the built lido/piscina
//   node test/compat/run-suite.js --target piscina   Piscina itself, to check this program
//   --only <substring>   only files whose name contains it    --jobs <n>   files at a time
import { spawn } from 'node:child_process'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { parseArgs } from 'node:util'
import { layOutSuite, piscinaIn } from './suite-stage.js'

// The version of the suite that this program was checked with, and its number of tests. A lower number means lost tests.
const known = { version: '5.3.2', tests: 156 }
const fileLimitMs = 60_000

const here = dirname(fileURLToPath(import.meta.url))
const root = dirname(dirname(here))
const reporter = pathToFileURL(join(here, 'suite-reporter.js')).href
const { values: flags } = parseArgs({
  options: {
    target: { type: 'string', default: 'lido/piscina' },
    only: { type: 'string', default: '' },
    // Like Piscina's own test run: many of its tests depend on time.
    jobs: { type: 'string', default: String(Math.max(1, availableParallelism() - 1)) },
  },
})

const running = new Set()

function endTree(child) {
  try {
    if (process.platform === 'win32') child.kill('SIGKILL')
    else process.kill(-child.pid, 'SIGKILL')
  } catch {
    // The process has exited already.
  }
}

process.on('exit', () => running.forEach(endTree))
for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => process.exit(1))

// Runs each file in its own `node --test`, with the command line of Piscina. A crash or a hang affects only its file.
function runFile(stage, name) {
  const { NODE_TEST_CONTEXT: _, ...env } = process.env
  const child = spawn(
    process.execPath,
    [
      '--enable-source-maps',
      '--require=tsx/cjs',
      '--test',
      `--test-reporter=${reporter}`,
      '--test-reporter-destination=stdout',
      join('test', name),
    ],
    { cwd: stage, env, stdio: ['ignore', 'pipe', 'pipe'], detached: process.platform !== 'win32' },
  )
  running.add(child)
  return new Promise((resolve, reject) => {
    let stdout = ''
    let stderr = ''
    let timedOut = false
    const limit = setTimeout(() => {
      timedOut = true
      endTree(child)
    }, fileLimitMs)
    child.stdout.setEncoding('utf8').on('data', text => {
      stdout += text
    })
    child.stderr.setEncoding('utf8').on('data', text => {
      stderr += text
    })
    child.on('error', reject)
    child.on('close', (exitCode, signal) => {
      clearTimeout(limit)
      // Kills processes that the file left behind.
      endTree(child)
      running.delete(child)
      resolve(read({ name, stdout, stderr, exitCode, signal, timedOut }))
    })
  })
}

// Reads the lines of the reporter. Returns the tests of the file, and the problem of the whole file ('' without a problem).
function read({ name, stdout, stderr, exitCode, signal, timedOut }) {
  const tests = []
  const diagnostics = []
  const problems = []
  for (const text of stdout.split('\n')) {
    if (!text) continue
    const line = parse(text)
    if (!line) stderr += `${text}\n`
    else if (line.kind === 'diagnostic') diagnostics.push(line.text)
    // The failure of the whole file shows in the exit code.
    else if (isWholeFile(line, name)) continue
    else if (!line.isSuite) tests.push({ file: name, test: line.name, ...line })
    else if (!line.passed && line.failureType !== 'subtestsFailed')
      problems.push(`${line.name}: ${line.error}`)
  }

  // Many of Piscina's tests do not await their assertions. Such an assertion fails after its test passed. Then node:test names the
  // test in a diagnostic and fails the file.
  const late = diagnostics.filter(text => text.includes('asynchronous activity after the test ended'))
  for (const text of late) {
    const owner = tests.find(
      ({ test, passed, skipped }) => passed && !skipped && text.includes(`Test "${test}"`),
    )
    if (!owner) problems.push(text)
    else Object.assign(owner, { passed: false, error: `failed after the end of the test: ${text}` })
  }

  const lastTest = tests.at(-1)?.test ?? 'none'
  if (timedOut)
    problems.unshift(`not finished in ${fileLimitMs / 1000} s. The last finished test: ${lastTest}`)
  else if (exitCode !== 0 && tests.every(({ passed }) => passed))
    problems.push(`exit code ${exitCode ?? signal}`)
  else if (tests.length === 0) problems.push('the file reported no test')
  return { file: name, tests, problem: problems.join('\n'), stderr }
}

function parse(text) {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

function isWholeFile({ name }, file) {
  return basename(name) === file
}

async function runAll(stage, files) {
  const results = new Map()
  const waiting = [...files]
  const lane = async () => {
    for (let name = waiting.shift(); name; name = waiting.shift()) {
      const startedAt = Date.now()
      const result = await runFile(stage, name)
      results.set(name, result)
      show(result, Date.now() - startedAt)
    }
  }
  await Promise.all(Array.from({ length: Math.max(1, Number(flags.jobs)) }, lane))
  return files.map(name => results.get(name))
}

function show({ file, tests, problem, stderr }, tookMs) {
  const failed = tests.filter(({ passed }) => !passed)
  const mark = failed.length === 0 && !problem ? 'ok  ' : 'FAIL'
  console.log(`${mark} ${file} (${tests.length - failed.length} of ${tests.length}, ${tookMs} ms)`)
  for (const { test, error } of failed) console.log(indent(`✖ ${test}\n${error}`, 4))
  if (problem) console.log(indent(`✖ the whole file: ${problem}`, 4))
  if (mark === 'FAIL' && stderr.trim())
    console.log(indent(`other output of the file:\n${stderr.trim().slice(-4000)}`, 4))
}

function indent(text, width) {
  return text.replace(/^/gm, ' '.repeat(width))
}

// exceptions.json excuses single tests of lido, never whole files. Piscina itself has no exceptions.
function judge(results, exceptions) {
  const counts = { run: 0, passed: 0, excepted: 0, skipped: 0, failed: 0 }
  const errors = []
  const ranFiles = new Set(results.map(({ file }) => file))
  const listed = exceptions.filter(({ file }) => ranFiles.has(file) || !flags.only)
  const matches = new Map(listed.map(entry => [entry, []]))

  for (const { file, tests, problem } of results) {
    if (problem) {
      counts.run++
      counts.failed++
    }
    for (const outcome of tests) {
      const exception = listed.find(entry => entry.file === file && entry.test === outcome.test)
      if (exception) matches.get(exception).push(outcome)
      if (outcome.skipped) {
        counts.skipped++
        continue
      }
      counts.run++
      if (outcome.passed) counts.passed++
      else if (exception) counts.excepted++
      else counts.failed++
    }
  }

  for (const [{ file, test, reason, isRace }, outcomes] of matches) {
    if (!reason) errors.push(`an exception has no reason: ${file}: ${test}`)
    if (outcomes.length === 0) errors.push(`an exception names a test that does not exist: ${file}: ${test}`)
    else if (!isRace && outcomes.every(({ passed, skipped }) => passed && !skipped)) {
      console.log(`note: ${file}: ${test} is an exception, but passes. Remove it from exceptions.json.`)
    }
  }
  const seen = results.reduce((sum, { tests }) => sum + tests.length, 0)
  if (!flags.only && seen < known.tests)
    errors.push(`only ${seen} of the ${known.tests} tests of the suite ran`)
  return { counts, errors, listed }
}

function printExceptions(exceptions) {
  if (exceptions.length === 0) return console.log('\nexceptions: none')
  console.log('\nexceptions:')
  for (const { file, test, reason } of exceptions) console.log(`  ${file}: ${test}\n      ${reason}`)
}

const { version, directory } = piscinaIn(root)
if (version !== known.version) {
  throw new Error(
    `piscina ${version} is installed, but this program was checked with ${known.version}. Compare the two suites, then change 'known'.`,
  )
}
if (flags.target !== 'piscina' && !existsSync(join(root, 'dist', '.built'))) {
  throw new Error("lido is not built. Run 'npm run build'.")
}
const major = process.versions.node.split('.')[0]
const stage = join(root, 'build', 'compat', `${flags.target.replace(/\W+/g, '-')}-node${major}`)
layOutSuite({ root, stage, target: flags.target })

const files = readdirSync(join(directory, 'test'))
  .filter(name => name.endsWith('.test.ts') && name.includes(flags.only))
  .sort()
if (files.length === 0)
  throw new Error(`No file of the suite has '${flags.only}' in its name. Change --only.`)
const exceptions =
  flags.target === 'piscina' ? [] : JSON.parse(readFileSync(join(here, 'exceptions.json'), 'utf8'))

console.log(`The tests of piscina ${version} on ${flags.target}, Node ${process.version}`)
const { counts, errors, listed } = judge(await runAll(stage, files), exceptions)
printExceptions(listed)
for (const error of errors) console.log(`error: ${error}`)
console.log(
  `\npiscina suite: ${counts.run} run, ${counts.passed} passed, ${counts.excepted} excepted, ` +
    `${counts.skipped} skipped by the suite itself, ${counts.failed} failed`,
)
process.exitCode = counts.failed + errors.length > 0 ? 1 : 0
