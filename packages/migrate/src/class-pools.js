// Programs of piscina and tinypool: both have a class, `run()` and nearly the same options.
import { checkPath } from './imports.js'
import { changeOptions, literalOf, undecided, without } from './options.js'
import { Pools } from './pools.js'
import { isString, keyOf, refuseMessages } from './source.js'

const same = names => Object.fromEntries(names.map(name => [name, true]))

const options = {
  ...same(['name', 'idleTimeout', 'maxQueue', 'concurrentTasksPerWorker', 'resourceLimits']),
  ...same(['env', 'argv', 'execArgv', 'workerData', 'trackUnmanagedFds', 'niceIncrement', 'closeTimeout']),
  ...same(['recordTiming', 'workerHistogram']),
  filename: (property, source) => checkPath(source, property.value),
  minThreads: wholeNumber('minWorkers'),
  maxThreads: wholeNumber('maxWorkers'),
  useAtomics: without('idle workers of lido do not block their event loop.'),
  atomics: without('idle workers of lido do not block their event loop.'),
  stricterFIFO: without('tasks of lido always start in order.'),
  loadBalancer: undecided(
    'the workers that lido shows are other objects. Write the function for WorkerView.',
  ),
  taskQueue(property, source) {
    const { value } = property
    const isFixedQueue = value.type === 'NewExpression' && value.callee.name === 'FixedQueue'
    if (isFixedQueue) return without('the queue of lido is fast by default.')(property, source)
    undecided('the tasks in a queue of lido are other objects. Write the class for TaskQueue.')(
      property,
      source,
    )
  },
}

const statics = {
  move: ['lido', 'move'],
  transferableSymbol: ['lido', 'transferableSymbol'],
  valueSymbol: ['lido', 'valueSymbol'],
  workerData: ['lido/worker', 'workerData'],
  isWorkerThread: ['lido/worker', 'isWorkerThread'],
}

const methods = ['on', 'once', 'off', 'addListener', 'removeListener', 'removeAllListeners', 'listenerCount']
const members = {
  ...Object.fromEntries([...methods, 'run', 'close', 'destroy'].map(name => [name, calledOnly])),
  ...same(['queueSize', 'completed', 'duration', 'utilization', 'needsDrain']),
  minThreads: 'minWorkers',
  maxThreads: 'maxWorkers',
  runTask(member, source) {
    const call = source.parentOf(member)
    if (call.type === 'CallExpression' && call.callee === member && call.arguments.length === 1) return 'run'
    source.refuse(
      member,
      'runTask() with several arguments. Write run(task, { transferList, filename, signal }).',
    )
  },
  histogram: 'Read the times from pool.stats(): waitTime and runTime.',
  runTime: 'Read the times from pool.stats(): waitTime and runTime.',
  waitTime: 'Read the times from pool.stats(): waitTime and runTime.',
  options: 'The names in pool.options differ.',
  threads: 'pool.threads has no processes. Read pool.workers.',
}
/** A method that is called directly. Anything else could lose its `this`. */
function calledOnly(member, source) {
  const call = source.parentOf(member)
  const isCall = call.callee === member && call.type !== 'NewExpression'
  if (!isCall) source.refuse(member, `A method that is not called: ${source.textOf(call)}.`)
}

/** Members with a text above stay a decision. */
const texts = new Set(['histogram', 'runTime', 'waitTime', 'options', 'threads'])

export const piscina = {
  library: 'piscina',
  className: 'Piscina',
  options,
  members,
  notes: [
    "Defaults differ: lido starts at most one worker for each core, and stops idle workers after 30 s ('idleTimeout').",
    "If the worker exports 'setup' or 'teardown', lido calls them at its start and end.",
  ],
  messages:
    /(Task queue is at limit|No task queue available|The task has been aborted|Terminating worker thread)/,
}

export const tinypool = {
  library: 'tinypool',
  className: 'Tinypool',
  options: {
    ...options,
    runtime(property, source) {
      const { value } = property
      if (isString(value)) return `backend: '${value.value === 'child_process' ? 'process' : 'thread'}'`
      source.refuse(property, "'runtime' is no plain text. In lido it is backend: 'thread' or 'process'.")
    },
    isolateWorkers(property, source) {
      const { value } = property
      if (value.type !== 'BooleanLiteral')
        source.refuse(property, "'isolateWorkers' is neither true nor false.")
      return value.value ? 'maxTasksPerWorker: 1' : 'remove'
    },
    maxMemoryLimitBeforeRecycle(property, source) {
      source.note(property, 'The memory limit also counts buffers in lido, and its unit is MiB.')
      const { value } = property
      const isNumber = value.type === 'NumericLiteral'
      const megabytes = isNumber ? value.value / 2 ** 20 : `(${source.textOf(value)}) / 2 ** 20`
      return `maxWorkerMemoryMb: ${megabytes}`
    },
    teardown(property, source) {
      source.hasTeardown = true
      if (isString(property.value) && property.value.value === 'teardown') return 'remove'
      source.refuse(
        property,
        "lido calls an export named 'teardown'. Rename the function in the worker's file.",
      )
    },
    serialization: without('lido copies values as structuredClone() does.'),
    terminateTimeout: without('lido kills workers without a limit.'),
  },
  members: {
    ...members,
    cancelPendingTasks(member, source) {
      calledOnly(member, source)
      source.note(member, 'The queued tasks reject with TaskCancelledError, and not with CancelError.')
      return 'cancelQueued'
    },
    destroy(member, source) {
      calledOnly(member, source)
      const call = source.parentOf(member)
      if (!source.hasTeardown || call.callee !== member) return undefined
      // destroy() of lido runs no teardown.
      source.note(
        member,
        'Running tasks finish first. Then the teardown runs. Queued tasks reject, as before.',
      )
      source.edits.appendLeft(call.end - 1, '{ force: true }')
      return 'close'
    },
    recycleWorkers(member, source) {
      const call = source.parentOf(member)
      if (call.type === 'CallExpression' && call.callee === member && call.arguments.length === 0)
        return 'recycle'
      source.refuse(member, 'recycleWorkers() with options. A pool of lido keeps its backend.')
    },
  },
  notes: ["Default differs: lido stops idle workers after 30 s ('idleTimeout')."],
  messages: /(Failed to terminate worker|The task has been cancelled|Task queue is at limit|\bCancelError\b)/,
}

/** A fraction is a share of the cores for tinypool, and an error for lido. */
function wholeNumber(name) {
  return (property, source) => {
    const { value } = property
    if (value.type === 'NumericLiteral' && !Number.isInteger(value.value)) {
      source.refuse(
        property,
        `A share of the cores: ${source.textOf(property)}. lido takes a number of workers.`,
      )
    }
    return `${name}: ${source.textOf(value)}`
  }
}

const callOptions = new Set(['name', 'filename', 'signal', 'transferList'])

export function changeClassPools(source, found, description) {
  const { library, className } = description
  const pools = new Pools(source)
  const classNames = [...found.whole]
  for (const [local, imported] of found.named) {
    if (imported === className) classNames.push(local)
    else if (Object.hasOwn(statics, imported)) needStatic(source, imported, local)
  }
  const references = classNames.flatMap(name => source.references(name))
  const isType = reference => source.parentOf(reference).type === 'TSTypeReference'
  for (const reference of references.filter(reference => !isType(reference)))
    changeClassReference(source, reference, description, pools)
  for (const reference of references.filter(isType)) {
    if (source.isRemoved(reference)) continue
    if (!pools.isTyped(reference)) source.refuse(reference, 'A pool of this type comes from elsewhere.')
    dropTypeArguments(source, source.parentOf(reference))
    source.rename(reference, source.need('lido', 'Pool'))
  }
  pools.each((member, name) => changeMember(source, description, member, name))
  for (const [local, imported] of found.named) {
    if (imported === className || Object.hasOwn(statics, imported)) continue
    for (const reference of source.references(local))
      source.refuse(reference, `lido has no '${imported}' that works the same way.`)
  }
  for (const node of source.hasPool ? [] : source.ofType('Identifier')) {
    if (node.name === 'setup' || (node.name === 'teardown' && library === 'piscina'))
      source.refuse(node, `lido calls an export named '${node.name}' by itself. Give it another name first.`)
  }
  refuseMessages(source, description.messages, library)
}

function needStatic(source, name, local) {
  const [module, imported] = statics[name]
  return source.need(module, imported, local)
}

function changeClassReference(source, reference, description, pools) {
  const parent = source.parentOf(reference)
  if (parent.type === 'MemberExpression' && parent.object === reference)
    changeStatic(source, reference, parent, description, pools)
  else if (parent.type === 'NewExpression' && parent.callee === reference) {
    changeConstructor(source, parent, description, pools)
    source.replace(reference, source.need('lido', 'Pool'))
  } else {
    const text = source.textOf(parent)
    source.refuse(reference, `This use of ${description.className} is not understood: ${text}.`)
  }
}

function changeStatic(source, reference, member, description, pools) {
  const name = member.computed ? undefined : member.property.name
  const parent = source.parentOf(member)
  if (name === description.className && parent.type === 'NewExpression' && parent.callee === member) {
    changeConstructor(source, parent, description, pools)
    source.replace(member, source.need('lido', 'Pool'))
  } else if (Object.hasOwn(statics, name)) {
    source.replace(member, needStatic(source, name, name))
  } else source.refuse(reference, `lido has no equivalent of ${source.textOf(member)}.`)
}

function changeConstructor(source, expression, description, pools) {
  const [object] = expression.arguments
  if (expression.arguments.length > 1) source.refuse(expression, 'A constructor with several arguments.')
  if (object !== undefined)
    changeOptions(source, literalOf(source, object), description.options, description.library)
  dropTypeArguments(source, expression)
  for (const text of description.notes) source.note(expression, text)
  pools.created(expression)
}

function dropTypeArguments(source, node) {
  const parameters = node.typeParameters ?? node.typeArguments
  if (!parameters) return
  source.note(
    parameters,
    "Type parameters are removed. Write Pool<typeof import('./work.js')> for typed calls.",
  )
  source.remove(parameters)
}

function changeMember(source, description, member, name) {
  const parent = source.parentOf(member)
  const rule = Object.hasOwn(description.members, name) ? description.members[name] : undefined
  if (rule === undefined) source.refuse(member, `lido has no equivalent of ${source.textOf(member)}.`)
  else if (texts.has(name)) source.refuse(member, rule)
  else {
    const renamed = typeof rule === 'function' ? rule(member, source) : rule
    if (typeof renamed === 'string') source.replace(member.property, renamed)
  }
  const isChanged =
    parent.operator === 'delete' ||
    /^(UpdateExpression|ArrayPattern|RestElement)$/.test(parent.type) ||
    (parent.left === member && !/^(Binary|Logical)Expression$/.test(parent.type)) ||
    source.parentOf(parent).type === 'ObjectPattern'
  if (isChanged) source.refuse(parent, `${source.textOf(member)} cannot be changed.`)
  if (name === 'run') checkCall(source, parent, member)
  if (name === 'close' || name === 'destroy') checkEnd(source, parent)
  if (name === 'removeAllListeners' || /^(on|once|off|addListener|removeListener)$/.test(name))
    checkListener(source, parent)
}

function checkCall(source, call, member) {
  if (call.callee !== member) return
  const spread = call.arguments.find(({ type }) => type === 'SpreadElement')
  if (spread !== undefined)
    source.refuse(spread, `Arguments that are not readable: ${source.textOf(spread)}.`)
  const given = call.arguments[1]
  if (given === undefined) return
  if (given.type !== 'ObjectExpression') {
    source.refuse(given, `The options of run() are no object literal here: ${source.textOf(given)}.`)
    return
  }
  for (const property of given.properties) {
    const key = property.type === 'ObjectProperty' ? keyOf(property) : undefined
    if (!callOptions.has(key))
      source.refuse(property, `An option of run() that lido may not know: ${source.textOf(property)}.`)
    else if (key === 'filename') checkPath(source, property.value)
    else if (key === 'signal' && source.ofType('Identifier').some(({ name }) => name === 'EventEmitter'))
      source.refuse(property, "A 'signal' of lido must be an AbortSignal, and no EventEmitter.")
  }
}

/** `close()` of lido resolves to a report. The pool cannot be used afterwards. */
function checkEnd(source, call) {
  if (call.arguments?.length > 0 && !isForce(call))
    source.refuse(call, `Options of ${source.textOf(call)} work differently.`)
  const isStatement = ['ExpressionStatement', 'AwaitExpression'].includes(source.parentOf(call).type)
  if (source.isTypeScript && !isStatement)
    source.refuse(call, 'The type of this promise differs in lido. Await it as a statement.')
  source.note(call, 'Afterwards a pool of lido accepts no tasks.')
}

/** `close({ force: true })` of piscina and of lido do the same: running tasks finish, and queued ones reject. */
function isForce({ callee, arguments: [options, ...more] }) {
  const [property, ...others] = options.properties ?? []
  return (
    callee.property?.name === 'close' &&
    more.length + others.length === 0 &&
    property?.type === 'ObjectProperty' &&
    keyOf(property) === 'force' &&
    property.value.type === 'BooleanLiteral'
  )
}

const events = /^(error|drain|needsDrain|workerCreate|workerDestroy)$/

function checkListener(source, call) {
  const [event, listener] = call.arguments ?? []
  if (source.parentOf(call).type !== 'ExpressionStatement')
    source.refuse(call, 'The pool goes on from here. Write each call on a line of its own.')
  if (!isString(event) || !events.test(event.value)) {
    source.refuse(call, `An event that lido may not know: ${source.textOf(call)}.`)
    return
  }
  if (listener?.params?.some(({ typeAnnotation }) => typeAnnotation))
    source.refuse(
      listener,
      `The listener of '${event.value}' has other types in lido. Remove the annotation.`,
    )
  if (/^worker/.test(event.value) && listener?.params?.length !== 0)
    source.refuse(event, `The listener of '${event.value}' gets a WorkerView, which is another object.`)
}
