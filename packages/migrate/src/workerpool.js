// Programs of workerpool: `pool()` becomes a Pool, `exec()` becomes a call of `pool.api`, and `worker({ … })` becomes exports.
import { isRelativeString } from './imports.js'
import { changeOptions, literalOf, undecided, without } from './options.js'
import { Pools } from './pools.js'
import { isString, keyOf } from './source.js'

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
  pools.each(
    (member, name) => changeMember(source, member, name),
    node => refuseUse(source, node),
  )
  for (const member of source.ofType('MemberExpression')) {
    if (member.object.type === 'ThisExpression' && member.property.name === 'worker')
      source.refuse(member, 'this.worker differs. Use context of lido/worker for cancellations and progress.')
  }
}

function refuseUse(source, node) {
  source.refuse(node, 'The pool is also used elsewhere, and its methods have other names in lido.')
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
  const [script, given] = call.arguments
  const object = given && literalOf(source, given)
  if (script === undefined || script.type === 'ObjectExpression') {
    source.refuse(call, 'A pool without a file. lido runs exported functions of a file.')
    return
  }
  if (isRelativeString(script)) {
    source.refuse(
      script,
      `A relative path. Write new URL(${source.textOf(script)}, import.meta.url) or an absolute path.`,
    )
    return
  }
  source.note(call, 'Defaults differ: lido starts workers at once, and uses one worker for each core.')
  const pool = source.need('lido', 'Pool')
  const filename = `filename: ${source.textOf(script)}`
  if (object === undefined) source.replace(call, `new ${pool}({ ${filename} })`)
  else {
    changeOptions(source, object, options, 'workerpool')
    if (object === given) insertFilename(source, call, object, filename)
    else source.replace(call, `new ${pool}({ ${filename}, ...${source.textOf(given)} })`)
  }
  pools.created(call, node => refuseUse(source, node))
}

function insertFilename(source, call, object, filename) {
  source.edits.overwrite(call.start, object.start, 'new Pool(')
  const isOnLines = /^\{\s*\n/.test(source.textOf(object))
  const indent = isOnLines ? source.text.slice(object.start + 1, object.properties[0].start) : ' '
  source.edits.appendRight(
    object.start + 1,
    `${indent}${filename}${object.properties.length === 0 ? ' ' : ','}`,
  )
}

/** `worker({ add, twice: double })` becomes `export { add, double as twice }` or `module.exports = { … }`. */
function changeWorker(source, call) {
  const statement = source.parentOf(call)
  const [object] = call.arguments
  if (
    statement.type !== 'ExpressionStatement' ||
    call.arguments.length !== 1 ||
    object.type !== 'ObjectExpression'
  ) {
    source.refuse(
      call,
      'lido has no options of worker(). Export the functions, and a function named teardown.',
    )
    return
  }
  if (!source.isModule) {
    source.edits.overwrite(call.start, object.start, 'module.exports = ')
    source.edits.remove(object.end, call.end)
    return
  }
  const named = []
  const written = []
  for (const property of object.properties) {
    const key = property.type === 'SpreadElement' ? undefined : keyOf(property)
    if (property.value?.type === 'Identifier' && key !== undefined)
      named.push(key === property.value.name ? key : `${property.value.name} as ${key}`)
    else written.push(exportOf(source, property, key))
  }
  const list = named.length > 0 ? [`export { ${named.join(', ')} }`] : []
  source.replace(call, [...list, ...written].join('\n\n'))
}

/** The export of a function that is written inside the object. */
function exportOf(source, property, key) {
  const isFunction = /^(Arrow)?FunctionExpression$/.test(property.value?.type)
  const isMethod = property.type === 'ObjectMethod' && property.kind === 'method'
  const isFree = /^[A-Za-z_$][\w$]*$/.test(key) && key !== 'default' && source.declarations(key).length === 0
  if (!isFree || !(isFunction || isMethod)) {
    source.refuse(property, 'This function cannot become an export. Declare it with another name first.')
    return ''
  }
  if (isFunction) return `export const ${key} = ${outdented(source, property, property.value)}`
  const { async, generator } = property
  const head = `export ${async ? 'async ' : ''}function${generator ? '*' : ''} ${key}`
  // From the parentheses on, a method and a function are written the same way.
  return (
    head +
    outdented(source, property, { start: source.text.indexOf('(', property.key.end), end: property.end })
  )
}

/** The text of a node, moved to the left as far as its property was indented. */
function outdented(source, property, node) {
  const text = source.textOf(node)
  const indent = ' '.repeat(property.loc.start.column)
  // A line in a template literal must not change.
  return text.includes('`') ? text : text.replaceAll(`\n${indent}`, '\n')
}

function changeMember(source, member, name) {
  const call = source.parentOf(member)
  const isCall = call.type === 'CallExpression' && call.callee === member
  if (isCall && name === 'exec') changeExec(source, member, call)
  else if (isCall && name === 'terminate') changeTerminate(source, member, call)
  else if (isCall && name === 'proxy' && source.parentOf(call).type === 'AwaitExpression') {
    source.replace(source.parentOf(call), `${source.textOf(member.object)}.api`)
  } else if (name === 'stats') source.refuse(member, 'The fields of stats() have other names in lido.')
  else source.refuse(member, `lido has no equivalent of ${source.textOf(member)} that works the same way.`)
}

/** `exec('add', [a, b])` becomes `api.add(a, b)`, and `.timeout(ms)` behind it becomes `with({ timeout: ms })`. */
function changeExec(source, member, call) {
  const [name, list, more] = call.arguments
  if (!isString(name)) {
    source.refuse(call, `exec() of something other than a name in quotes: ${source.textOf(call)}.`)
    return
  }
  if (more !== undefined) {
    source.refuse(more, "'on' and 'transfer' differ. Use onProgress of with(), and move().")
    return
  }
  const isList = list === undefined || list.type === 'ArrayExpression'
  if (!isList) {
    source.refuse(list, `The arguments are no list here: ${source.textOf(list)}.`)
    return
  }
  if (name.value === 'then' || name.value === 'toJSON' || name.value in {}) {
    source.refuse(name, `pool.api has no '${name.value}'. Use pool.run() with the option name.`)
    return
  }
  const limit = limitOf(source, call)
  if (limit === null) return
  const access = /^[\w$]+$/.test(name.value) ? `.${name.value}` : `[${source.textOf(name)}]`
  const pool = source.textOf(member.object)
  const options = limit === undefined ? '' : `.with({ timeout: ${source.textOf(limit.call.arguments[0])} })`
  const callee = `${pool}${options}.api${access}`
  const elements = list?.elements ?? []
  if (elements.length === 0) source.replace(call, `${callee}()`)
  else {
    source.edits.overwrite(call.start, elements[0].start, `${callee}(`)
    source.edits.overwrite(elements.at(-1).end, call.end, ')')
  }
  if (limit !== undefined) source.edits.remove(call.end, limit.call.end)
}

/** The `.timeout(ms)` directly behind a call; `null` after a refusal of another method of workerpool's promises. */
function limitOf(source, call) {
  const member = source.parentOf(call)
  if (member.type !== 'MemberExpression' || member.object !== call) {
    const isVariable = member.type === 'VariableDeclarator' && member.id.type === 'Identifier'
    if (!isVariable) return undefined
    const used = source.references(member.id.name).map(reference => source.parentOf(reference))
    const special = used.find(({ property }) => ['cancel', 'timeout', 'always'].includes(property?.name))
    if (special === undefined) return undefined
    source.refuse(special, `.${special.property.name}() of a call. Use signal or timeout of with().`)
    return null
  }
  const { name } = member.property
  const outer = source.parentOf(member)
  if (name === 'timeout' && outer.type === 'CallExpression' && outer.arguments.length === 1)
    return { call: outer }
  if (name === 'then' || name === 'catch' || name === 'finally') return undefined
  source.refuse(member.property, `.${name}() of a call. Use signal or timeout of with().`)
  return null
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
  source.edits.overwrite(member.property.start, call.end, isForced ? 'destroy()' : 'close({ force: true })')
}
