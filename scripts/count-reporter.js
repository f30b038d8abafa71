// A reporter for `node --test`. Prints one line of JSON with the counts and the first lines of each error.
// Suites do not count as tests. A file counts as one failure if it fails as a whole, or if it contains no test. If it fails as a
// whole, its exit code, its signal and the last lines of its stderr say why.
import { basename } from 'node:path'

const errorLines = 12
const stderrLength = 1000

export default async function* countReporter(source) {
  const counts = { passed: 0, failed: 0, skipped: 0, problems: [] }
  const stderr = new Map()
  for await (const { type, data } of source) {
    if (type === 'test:stderr')
      stderr.set(data.file, `${stderr.get(data.file) ?? ''}${data.message}`.slice(-stderrLength))
    if (type !== 'test:pass' && type !== 'test:fail') continue
    if (data.details?.type === 'suite') {
      // A suite fails because of its tests, which are counted, or because of its hook, which no other event reports.
      if (type === 'test:fail' && data.details.error?.failureType === 'hookFailed')
        fail(counts, data, 'a hook failed')
    } else if (isFile(data)) {
      if (type === 'test:pass') fail(counts, data, 'reported no test')
      else fail(counts, data, `failed as a whole, ${endOf(data)}\n${stderr.get(data.file) ?? ''}`.trimEnd())
    } else if (isSet(data.skip) || isSet(data.todo)) counts.skipped++
    else if (type === 'test:pass') counts.passed++
    else fail(counts, data, 'failed')
  }
  yield `${JSON.stringify(counts)}\n`
}

function fail(counts, { name, file, details }, what) {
  counts.failed++
  const place = file === undefined || isPath(name) ? '' : `${basename(file)}: `
  counts.problems.push(`${place}${isPath(name) ? basename(name) : name}: ${what}${errorText(details?.error)}`)
}

function endOf({ details: { error } }) {
  return `exit code ${error?.exitCode ?? 'unknown'}, signal ${error?.signal ?? 'none'}`
}

/** The runner wraps the test's error. The test's error is the `cause`. */
function errorText(error) {
  const thrown = error?.cause ?? error
  const text = thrown?.stack ?? thrown?.message ?? thrown
  if (text === undefined) return ''
  return `\n${String(text).split('\n').slice(0, errorLines).join('\n')}`
}

function isFile({ name, nesting }) {
  return nesting === 0 && isPath(name)
}

function isPath(name) {
  return /\.test\.[cm]?js$/.test(name)
}

function isSet(mark) {
  return mark !== undefined && mark !== false
}
