// A node:test reporter that writes one JSON line for each outcome, with the full name of the test. Read by run-suite.js.
// A suite gets no line, because each of its tests gets one.
export default async function* report(events) {
  const names = []
  for await (const { type, data } of events) {
    if (type === 'test:start') {
      names.length = data.nesting
      names.push(data.name)
    } else if (type === 'test:pass' || type === 'test:fail') {
      yield line(outcomeOf(type, data, [...names.slice(0, data.nesting), data.name].join(' > ')))
    } else if (type === 'test:diagnostic') {
      yield line({ kind: 'diagnostic', text: data.message })
    }
  }
}

function line(value) {
  return `${JSON.stringify(value)}\n`
}

function outcomeOf(type, data, name) {
  const { details, skip, todo } = data
  const error = details.error
  return {
    kind: 'outcome',
    name,
    isSuite: details.type === 'suite',
    // Both are `true`, or a reason that may be the empty string.
    skipped: (skip !== undefined && skip !== false) || (todo !== undefined && todo !== false),
    passed: type === 'test:pass',
    failureType: error?.failureType,
    error: error && describe(error),
  }
}

function describe(error) {
  const cause = error.cause ?? error
  const text = typeof cause === 'object' && cause !== null ? (cause.stack ?? cause.message) : String(cause)
  return String(text ?? error.message)
}
