// Programs of piscina and tinypool: both have a class, `run()` and nearly the same options.
import { changeOptions, literalOf, undecided, without } from './options.js'
import { Pools } from './pools.js'
import { isString, keyOf } from './source.js'

const same = names => Object.fromEntries(names.map(name => [name, true]))

const options = {
  ...same(['filename', 'name', 'idleTimeout', 'maxQueue', 'concurrentTasksPerWorker', 'resourceLimits']),
  ...same(['env', 'argv', 'execArgv', 'workerData', 'trackUnmanagedFds', 'niceIncrement', 'closeTimeout']),
  ...same(['recordTiming', 'workerHistogram']),
  minThreads: 'minWorkers',
  maxThreads: 'maxWorkers',
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

const events = ['on', 'once', 'off', 'addListener', 'removeListener', 'removeAllListeners', 'listenerCount']
const members = {
  ...same([
    ...events,
    'run',
    'close',
    'destroy',
    'threads',
    'queueSize',
    'completed',
    'duration',
    'utilization',
  ]),
  ...same(['needsDrain']),
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
}
/** Members with a text above stay a decision. */
const texts = new Set(['histogram', 'runTime', 'waitTime', 'options'])

export const piscina = {
  library: 'piscina',
  className: 'Piscina',
  options,
  members,
  notes: [
    "Defaults differ: lido starts at most one worker for each core, and stops idle workers after 30 s ('idleTimeout').",
  ],
  messages:
    /^(Task queue is at limit|No task queue available|The task has been aborted|Terminating worker thread)/,
}

export const tinypool = {
  library: 'tinypool',
  className: 'Tinypool',
  options: {
    ...options,
    minThreads: wholeNumber('minWorkers'),
    maxThreads: wholeNumber('maxWorkers'),
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
    recycleWorkers(member, source) {
      const call = source.parentOf(member)
      if (call.type === 'CallExpression' && call.callee === member && call.arguments.length === 0)
        return 'recycle'
      source.refuse(member, 'recycleWorkers() with options. A pool of lido keeps its backend.')
    },
  },
  notes: ["Default differs: lido stops idle workers after 30 s ('idleTimeout')."],
  messages: /^(Failed to terminate worker|The task has been cancelled|Task queue is at limit)/,
  forbidden: /__tinypool_(state|worker_message)__|TINYPOOL_WORKER_ID/,
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
  for (const name of classNames) {
    for (const reference of source.references(name))
      changeClassReference(source, reference, description, pools)
  }
  changeMembers(source, description, pools)
  for (const [local, imported] of found.named) {
    if (imported === className || Object.hasOwn(statics, imported)) continue
    for (const reference of source.references(local))
      source.refuse(reference, `lido has no '${imported}' that works the same way.`)
  }
  for (const literal of source.ofType('StringLiteral')) {
    if (description.messages.test(literal.value))
      source.note(literal, `A message of ${library}. Compare error.code in its place.`)
    if (description.forbidden?.test(literal.value))
      source.refuse(literal, `lido does not set ${literal.value}.`)
  }
  for (const identifier of source.ofType('Identifier')) {
    if (description.forbidden?.test(identifier.name))
      source.refuse(identifier, `lido does not set ${identifier.name}.`)
  }
}

function needStatic(source, name, local) {
  source.usesMarks = true
  const [module, imported] = statics[name]
  return source.need(module, imported, local)
}

function changeClassReference(source, reference, description, pools) {
  const parent = source.parentOf(reference)
  const isMember = /^(Optional)?MemberExpression$/.test(parent.type) && parent.object === reference
  if (isMember) {
    changeStatic(source, reference, parent, description, pools)
    return
  }
  if (parent.type === 'NewExpression' && parent.callee === reference) {
    changeConstructor(source, parent, description, pools)
  } else if (parent.type === 'TSTypeReference') {
    dropTypeArguments(source, parent)
    pools.typed(reference)
  } else if (!(parent.type === 'BinaryExpression' && parent.operator === 'instanceof')) {
    source.refuse(
      reference,
      `This use of ${description.className} is not understood: ${source.textOf(parent)}.`,
    )
    return
  }
  source.rename(reference, source.need('lido', 'Pool'))
}

function changeStatic(source, reference, member, description, pools) {
  const name = member.computed ? undefined : member.property.name
  const parent = source.parentOf(member)
  if (name === description.className && parent.type === 'NewExpression') {
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
  pools.created(expression, node => noteUse(source, node))
}

function noteUse(source, node) {
  source.note(node, 'The pool is also used elsewhere. Check its uses there.')
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

function changeMembers(source, description, pools) {
  const use = (member, name) => {
    const rule = Object.hasOwn(description.members, name) ? description.members[name] : undefined
    if (rule === undefined) source.refuse(member, `lido has no equivalent of ${source.textOf(member)}.`)
    else if (texts.has(name)) source.refuse(member, rule)
    else {
      const renamed = typeof rule === 'function' ? rule(member, source) : rule
      if (typeof renamed === 'string') source.replace(member.property, renamed)
    }
    if (name === 'run') checkCall(source, source.parentOf(member), member)
    if (name === 'on' || name === 'once') checkListener(source, source.parentOf(member))
  }
  pools.each(use, node => {
    if (source.parentOf(node).type === 'VariableDeclarator')
      source.refuse(node, 'Members of the pool are taken out of it. Call them on the pool.')
    else noteUse(source, node)
  })
}

function checkCall(source, call, member) {
  if (call.type !== 'CallExpression' || call.callee !== member) return
  const given = call.arguments[1]
  if (given === undefined) return
  if (given.type !== 'ObjectExpression') {
    source.note(
      given,
      'The options of run() are built elsewhere. lido knows name, filename, signal and transferList.',
    )
    return
  }
  for (const property of given.properties) {
    const key = property.type === 'SpreadElement' ? undefined : keyOf(property)
    if (!callOptions.has(key))
      source.refuse(property, `An option of run() that lido may not know: ${source.textOf(property)}.`)
  }
}

function checkListener(source, call) {
  const [event, listener] = call.arguments ?? []
  if (!isString(event) || !/^worker(Create|Destroy)$/.test(event.value)) return
  if (listener?.params?.length !== 0)
    source.note(event, `The listener of '${event.value}' gets a WorkerView, which is another object.`)
}
