// Programs of workerpool: `pool()` becomes a Pool, `exec()` becomes a call of `pool.api`, and `worker({ … })` becomes exports.
import { checkNames, findImports, isRelativeString, writeImports } from './imports.js'
import { changeOptions, undecided, without } from './options.js'
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

export function changeWorkerpool(source) {
  const found = findImports(source, 'workerpool')
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
  checkNames(source, found.statements)
  if (source.refusals.length === 0) writeImports(source, found.statements)
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
  const [script, object] = call.arguments
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
    const isEmpty = object.properties?.length === 0
    source.edits.overwrite(call.start, object.start, `new ${pool}(`)
    const isLines = /^\{\s*\n/.exec(source.textOf(object))
    const indent = isLines ? source.text.slice(object.start + 1, object.properties[0].start) : ' '
    source.edits.appendRight(object.start + 1, `${indent}${filename}${isEmpty ? ' ' : ','}`)
  }
  pools.created(call, node => refuseUse(source, node))
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
  const names = object.properties.map(property => {
    const isName = property.type === 'ObjectProperty' && property.value.type === 'Identifier'
    const key = isName ? keyOf(property) : undefined
    if (key === undefined) {
      source.refuse(property, 'Only names of functions can become exports. Declare this function first.')
      return ''
    }
    return key === property.value.name ? key : `${property.value.name} as ${key}`
  })
  source.replace(call, `export { ${names.join(', ')} }`)
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
