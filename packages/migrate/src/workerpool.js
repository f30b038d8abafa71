// Programs of workerpool: `pool()` becomes a Pool, `exec()` becomes a call of `pool.api`, and `worker({ … })` becomes exports.
import { checkPath } from './imports.js'
import { changeOptions, literalOf, undecided, without } from './options.js'
import { Pools } from './pools.js'
import { classOf, isString, keyOf, refuseMessages } from './source.js'

const options = {
  maxWorkers: true,
  maxQueueSize(property, source) {
    source.note(property, 'With a full queue, exec() of workerpool throws. A call of lido rejects.')
    return `maxQueue: ${source.textOf(property.value)}`
  },
  minWorkers(property, source) {
    if (isString(property.value)) source.refuse(property, "minWorkers: 'max'. Write the number of workers.")
    return true
  },
  workerType(property, source) {
    const type = isString(property.value) ? property.value.value : undefined
    if (type === 'thread' || type === 'process') return `backend: '${type}'`
    if (type === 'auto') return 'remove'
    source.refuse(property, "lido has the backends 'thread' and 'process'.")
  },
  workerTerminateTimeout: without('lido kills workers without a limit.'),
  forkArgs: undecided('use argv of lido.'),
  forkOpts: undecided('use env and execArgv of lido.'),
  workerThreadOpts: undecided('use env, execArgv, resourceLimits and workerData of lido.'),
  onCreateWorker: undecided("listen to the event 'workerCreate'. It cannot change the worker."),
  onTerminateWorker: undecided("listen to the event 'workerDestroy'."),
}

const messages =
  /Unknown method|Max queue size|Worker(pool Worker)? terminated|Promise timed out|promise cancelled|(Timeout|Cancellation)Error/i

export function changeWorkerpool(source, found) {
  const pools = new Pools(source)
  for (const name of found.whole) {
    for (const reference of source.references(name)) {
      const member = source.parentOf(reference)
      const isMember = member.type === 'MemberExpression' && member.object === reference && !member.computed
      if (isMember) changeFunction(source, member, member.property.name, pools)
      else source.refuse(reference, `This use of workerpool is not understood: ${source.textOf(member)}.`)
    }
  }
  for (const [local, imported] of found.named) {
    for (const reference of source.references(local)) changeFunction(source, reference, imported, pools)
  }
  const timeouts = new Set()
  pools.each((member, name) => changeMember(source, member, name, timeouts))
  for (const member of source.ofType('MemberExpression', 'OptionalMemberExpression')) {
    const { name } = member.property
    if (/^(cancel|timeout|always)$/.test(name) && !timeouts.has(member))
      source.refuse(member, `.${name}() may belong to a call. Use signal or timeout of with().`)
    if (name === 'worker' && member.object.type === 'ThisExpression')
      source.refuse(member, 'this.worker differs. Use context of lido/worker for cancellations and progress.')
  }
  refuseMessages(source, messages, 'workerpool')
}

/** Changes `workerpool.pool(…)` and `workerpool.worker(…)`. */
function changeFunction(source, callee, name, pools) {
  const call = source.parentOf(callee)
  const isCall = call.type === 'CallExpression' && call.callee === callee
  if (isCall && name === 'pool') changePool(source, call, pools)
  else if (isCall && name === 'worker') changeWorker(source, call)
  else source.refuse(callee, `lido has no equivalent of ${source.textOf(callee)} that works the same way.`)
}

function changePool(source, call, pools) {
  pools.created(call)
  const [script, given, ...more] = call.arguments
  const object = given && literalOf(source, given)
  if (script === undefined || /^(ObjectExpression|SpreadElement)$/.test(script.type) || more.length > 0) {
    source.refuse(call, 'A pool without a file. lido runs exported functions of a file.')
    return
  }
  checkPath(source, script)
  source.note(call, 'Defaults differ: lido starts workers at once, and uses one worker for each core.')
  const pool = source.need('lido', 'Pool')
  const filename = `filename: ${source.textOf(script)}`
  if (object === undefined) source.replace(call, `new ${pool}({ ${filename} })`)
  else {
    const kept = changeOptions(source, object, options, 'workerpool')
    if (object === given) {
      // The text between the brace and the first option that stays stays behind `filename`, and the same text goes before it.
      const isEmpty = object.properties.length === 0
      const space = /^\s*/.exec(source.text.slice(object.start + 1))[0]
      const before = kept > 0 && space !== '' ? space : ' '
      const end = kept > 0 ? ',' : isEmpty && space !== '' ? '' : ' '
      source.edits.overwrite(call.start, object.start + 1, `new ${pool}({${before}${filename}${end}`)
    } else source.replace(call, `new ${pool}({ ${filename}, ...${source.textOf(given)} })`)
  }
}

/** `worker({ add, twice: double })` becomes `export { add, double as twice }` or `module.exports = { … }`. */
function changeWorker(source, call) {
  source.callsWorker = true
  const statement = source.parentOf(call)
  const [object, ...more] = call.arguments
  if (
    source.parentOf(statement) !== source.program ||
    object?.type !== 'ObjectExpression' ||
    more.length > 0
  ) {
    source.refuse(
      call,
      'Only worker({ … }) at the top of a file is understood. Export the functions yourself.',
    )
    return
  }
  checkAlone(source, call)
  const written = object.properties.map(property => exportOf(source, property))
  if (source.isModule) {
    const named = written.filter(text => / as /.test(text) || /^[\w$]+$/.test(text))
    const list = named.length > 0 ? [`export { ${named.join(', ')} }`] : []
    const others = written.filter(text => !named.includes(text))
    source.replace(call, [...list, ...others].join(source.eol.repeat(2)))
  } else {
    source.edits.overwrite(call.start, object.start, 'module.exports = ')
    source.edits.remove(object.end, call.end)
  }
}

/** Refuses a worker whose file has other exports, a second worker(), a pool, or functions that use `this`. */
function checkAlone(source, call) {
  const exported = source.ofType('ExportNamedDeclaration', 'ExportDefaultDeclaration', 'ExportAllDeclaration')
  const ofCommonJs = ['exports', 'module'].flatMap(name => source.references(name))
  for (const node of [...exported, ...ofCommonJs])
    source.refuse(node, 'The file of the worker has other exports. Export the functions yourself.')
  for (const node of source.ofType('ThisExpression')) {
    if (classOf(source, node) === undefined) source.refuse(node, "'this' is another object in lido.")
  }
  if (source.hasWorker || source.hasPool) source.refuse(call, 'The file has another worker() or a pool.')
  source.hasWorker = true
}

/** The export of one property: `add`, `double as twice`, or a function that was written inside the object. */
function exportOf(source, property) {
  const key = property.type === 'SpreadElement' ? undefined : keyOf(property)
  const { value } = property
  const isName = /^[A-Za-z_$][\w$]*$/.test(key) && !hooks.test(key) && !(key in {})
  if (isName && value?.type === 'Identifier' && isFunctionOfFile(source, value))
    return key === value.name ? key : `${value.name} as ${key}`
  const isFunction = /^(Arrow)?FunctionExpression$/.test(value?.type)
  const isMethod = property.type === 'ObjectMethod' && property.kind === 'method'
  // As an export the name is seen in the whole file, where it may mean a global or another variable.
  const isTaken = [...source.declarations(key), ...source.references(key)].length > 0 || key in globalThis
  if (!isName || !(isFunction || isMethod) || (source.isModule && isTaken)) {
    source.refuse(property, 'This function cannot become an export. Declare it with another name first.')
    return ''
  }
  if (isFunction) return `export const ${key} = ${outdented(source, property, value)}`
  const { async, generator } = property
  const head = `export ${async ? 'async ' : ''}function${generator ? '*' : ''} ${key}`
  // From the parentheses on, a method and a function are written the same way.
  return (
    head +
    outdented(source, property, { start: source.text.indexOf('(', property.key.end), end: property.end })
  )
}

/** Exports that lido calls by itself, and names that a pool cannot call. */
const hooks = /^(default|setup|teardown|then|toJSON|methods|run)$/

/** True for the name of a function that the file declares once, at its top. */
function isFunctionOfFile(source, { name }) {
  const [declared, ...others] = source.declarations(name)
  if (declared === undefined || others.length > 0) return false
  const parent = source.parentOf(declared)
  if (parent.type === 'FunctionDeclaration') return source.parentOf(parent) === source.program
  const isFunction = /^(Arrow)?FunctionExpression$/.test(parent.init?.type)
  const statement = source.parentOf(parent)
  return isFunction && statement.kind === 'const' && source.parentOf(statement) === source.program
}

/** The text of a node, moved to the left as far as its property was indented. */
function outdented(source, property, node) {
  const text = source.textOf(node)
  const indent = ' '.repeat(property.loc.start.column)
  // A line in a template literal must not change.
  return text.includes('`') ? text : text.replaceAll(`\n${indent}`, '\n')
}

function changeMember(source, member, name, timeouts) {
  const call = source.parentOf(member)
  const isCall = call.type === 'CallExpression' && call.callee === member
  if (isCall && name === 'exec') changeExec(source, member, call, timeouts)
  else if (isCall && name === 'terminate') changeTerminate(source, member, call)
  else if (isCall && name === 'proxy') changeProxy(source, member, call)
  else if (name === 'stats') source.refuse(member, 'The fields of stats() have other names in lido.')
  else source.refuse(member, `lido has no equivalent of ${source.textOf(member)} that works the same way.`)
}

/** `const worker = await pool.proxy()` becomes `const worker = pool.api`, if the file only calls `worker.name(…)`. */
function changeProxy(source, member, call) {
  const awaited = source.parentOf(call)
  const { type, id } = source.parentOf(awaited)
  const isConstant =
    awaited.type === 'AwaitExpression' && type === 'VariableDeclarator' && id.type === 'Identifier'
  if (!isConstant || source.declarations(id.name).length > 1 || call.arguments.length > 0) {
    source.refuse(call, 'Only const name = await pool.proxy() is understood.')
    return
  }
  for (const reference of source.references(id.name)) {
    const used = source.parentOf(reference)
    const called = source.parentOf(used)
    if (
      used.object !== reference ||
      used.computed ||
      called.callee !== used ||
      hooks.test(used.property.name)
    )
      source.refuse(used, `This use of the proxy is not understood: ${source.textOf(used)}.`)
    else checkPromise(source, called)
  }
  source.replace(awaited, `${source.textOf(member.object)}.api`)
}

/** `exec('add', [a, b])` becomes `api.add(a, b)`, and `.timeout(ms)` behind it becomes `with({ timeout: ms })`. */
function changeExec(source, member, call, timeouts) {
  const [name, list, more] = call.arguments
  if (!isString(name)) {
    source.refuse(call, `exec() of something other than a name in quotes: ${source.textOf(call)}.`)
    return
  }
  if (more !== undefined) {
    source.refuse(more, "'on' and 'transfer' differ. Use onProgress of with(), and move().")
    return
  }
  const isList = list === undefined || (list.type === 'ArrayExpression' && !list.elements.includes(null))
  if (!isList) {
    source.refuse(list, `The arguments are no list here: ${source.textOf(list)}.`)
    return
  }
  if (hooks.test(name.value) || name.value in {}) {
    source.refuse(name, `pool.api has no '${name.value}'. Use pool.run() with the option name.`)
    return
  }
  const limit = limitOf(source, call)
  checkPromise(source, limit?.call ?? call)
  const access = /^[A-Za-z_$][\w$]*$/.test(name.value) ? `.${name.value}` : `[${source.textOf(name)}]`
  const options = limit === undefined ? '' : `.with({ timeout: ${source.textOf(limit.value)} })`
  const callee = `${source.textOf(member.object)}${options}.api${access}(`
  if (list === undefined) source.replace(call, `${callee})`)
  else {
    source.edits.overwrite(call.start, list.start + 1, callee)
    source.edits.overwrite(list.end - 1, call.end, ')')
  }
  if (limit === undefined) return
  timeouts.add(source.parentOf(call))
  source.edits.remove(call.end, limit.call.end)
}

/** The `.timeout(ms)` directly behind a call. `ms` moves, so it must be a number or a name. */
function limitOf(source, call) {
  const member = source.parentOf(call)
  if (member.type !== 'MemberExpression' || member.object !== call || member.property.name !== 'timeout')
    return undefined
  const outer = source.parentOf(member)
  const [value, ...more] = outer.arguments ?? []
  const isPlain = /^(NumericLiteral|Identifier)$/.test(value?.type)
  return outer.callee === member && isPlain && more.length === 0 ? { call: outer, value } : undefined
}

/**
 * Refuses a promise of a call that is not awaited, returned, or chained. workerpool's promises have methods of their own, and a
 * rejection that nobody handles is silent there. In lido it ends the program. A safe promise does not reject.
 */
function checkPromise(source, call, isSafe = false) {
  let node = call
  let isHandled = isSafe
  let parent = source.parentOf(node)
  while (parent.type === 'MemberExpression' && parent.object === node) {
    const chained = source.parentOf(parent)
    const name = parent.computed ? undefined : parent.property.name
    if (!/^(then|catch|finally)$/.test(name) || chained.callee !== parent) break
    isHandled ||= name === 'catch' || (name === 'then' && chained.arguments.length === 2)
    node = chained
    parent = source.parentOf(node)
  }
  const isReturned =
    parent.type === 'ReturnStatement' || (parent.type === 'ArrowFunctionExpression' && parent.body === node)
  const isInList =
    parent.type === 'ArrayExpression' &&
    /^Promise\.\w+$/.test(source.textOf(source.parentOf(parent).callee ?? node))
  if (isReturned) source.note(call, 'The returned promise has no cancel(), timeout() or always() in lido.')
  if (parent.type === 'AwaitExpression' || isReturned || isInList) return
  if (parent.type === 'ExpressionStatement' && isHandled) return
  source.refuse(
    call,
    'The promise of a call must be awaited, returned, or chained with then(), catch() and finally(). A chain needs a catch().',
  )
}

/** `terminate()` lets running tasks finish and rejects queued ones. `terminate(true)` stops all at once. */
function changeTerminate(source, member, call) {
  const [force, ...more] = call.arguments
  const isForced = force?.type === 'BooleanLiteral' && force.value
  const isKnown = force === undefined || force.type === 'BooleanLiteral'
  if (!isKnown || more.length > 0) {
    source.refuse(call, 'terminate() with other arguments. Use close({ force: true }) or destroy().')
    return
  }
  checkPromise(source, call, true)
  source.edits.overwrite(member.property.start, call.end, isForced ? 'destroy()' : 'close({ force: true })')
}
