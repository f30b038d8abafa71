// A reporter for `node --test` that counts what ran, as one line of JSON. Suites and files are no tests; a file counts
// only when it fails as a whole, or when it held no test at all, which is a failure too.
import { basename } from 'node:path'

export default async function* countReporter(source) {
  const counts = { passed: 0, failed: 0, skipped: 0, problems: [] }
  for await (const { type, data } of source) {
    if (type !== 'test:pass' && type !== 'test:fail') continue
    if (data.details?.type === 'suite') {
      // A suite fails for its tests, which are counted, or for a hook of its own, which nothing else shows.
      if (type === 'test:fail' && data.details.error?.failureType === 'hookFailed')
        fail(counts, data, 'a hook failed')
    } else if (isFile(data)) {
      if (type === 'test:pass') fail(counts, data, 'reported no test')
      else fail(counts, data, 'failed as a whole')
    } else if (isSet(data.skip) || isSet(data.todo)) counts.skipped++
    else if (type === 'test:pass') counts.passed++
    else counts.failed++
  }
  yield `${JSON.stringify(counts)}\n`
}

function fail(counts, { name }, what) {
  counts.failed++
  counts.problems.push(`${basename(name)}: ${what}`)
}

function isFile({ name, nesting }) {
  return nesting === 0 && /\.test\.[cm]?js$/.test(name)
}

function isSet(mark) {
  return mark !== undefined && mark !== false
}
