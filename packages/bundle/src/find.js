// Finds the handlers that a module names, and says how to replace each of them by the URL of the emitted file.
import { parse } from '@babel/parser'

/** A module without these words names no handler. */
const mention = /pool|lido|piscina/i
const expression = /import\.meta|\bimport\s*\(|\brequire\b|__dirname|__filename/
const library = /^(lido|piscina|tinypool|workerpool|lido-as-(piscina|tinypool|workerpool))($|\/)/
const poolName = /(pool|piscina)$/i
const ownCode =
  /[\\/]node_modules[\\/](lido|piscina|tinypool|workerpool|lido-as-(piscina|tinypool|workerpool))[\\/]/
/** The files of lido's adapters that workers load. */
const adapterUrls = /[\\/]lido[\\/]dist[\\/]\w+[\\/]adapters[\\/]\w+[\\/]module-urls\.js$/
const skippedKeys = new Set([
  'loc',
  'errors',
  'extra',
  'leadingComments',
  'innerComments',
  'trailingComments',
])

/** False if the plug-in need not read the module. */
export function mayNameHandlers(code, id) {
  return adapterUrls.test(id) || (mention.test(code) && expression.test(code) && !ownCode.test(id))
}

/**
 * One handler that a module names.
 * @typedef {object} Found
 * @property {string} specifier such as `./work.js`
 * @property {'url' | 'thunk' | 'resolve' | 'path'} form `path`: a path such as `join(__dirname, 'work.js')`, whose file may be made later
 * @property {number} line
 * @property {number} column
 * @property {(href: string) => { start: number, end: number, text: string }[]} edits the changes, for an expression whose value is the
 *   URL of the emitted file, as a string
 */

/**
 * Returns an empty array for a text that cannot be parsed, such as a Vue component. The bundler reports broken programs itself.
 * @returns {Found[]}
 */
export function findHandlers(code, id) {
  if (!mayNameHandlers(code, id)) return []
  const program = parseModule(code, id)
  return program === null ? [] : new Finder(program, adapterUrls.test(id)).find()
}

function parseModule(code, id) {
  const path = id.replace(/[?#].*$/, '')
  // `<T>value` of TypeScript and JSX exclude each other. The extension decides.
  const isTypeScript = /\.[cm]?ts$/.test(path)
  const jsx = isTypeScript ? [] : ['jsx']
  for (const typed of /\.[cm]?tsx?$/.test(path) ? [['typescript']] : [[], ['typescript']]) {
    try {
      return parse(code, {
        sourceType: /\.c[jt]s$/.test(path) ? 'script' : 'unambiguous',
        plugins: ['decorators-legacy', 'decoratorAutoAccessors', ...typed, ...jsx],
        allowReturnOutsideFunction: true,
        allowAwaitOutsideFunction: true,
        allowImportExportEverywhere: true,
        createImportExpressions: true,
        errorRecovery: true,
      }).program
    } catch {
      // Not this dialect.
    }
  }
  return null
}

class Finder {
  #parents = new Map()
  #nodes = []
  #areAllHandlers

  constructor(program, areAllHandlers) {
    this.#areAllHandlers = areAllHandlers
    this.#index(program)
  }

  #index(node) {
    this.#nodes.push(node)
    for (const [key, value] of Object.entries(node)) {
      if (skippedKeys.has(key)) continue
      for (const child of Array.isArray(value) ? value : [value]) {
        if (typeof child?.type !== 'string') continue
        this.#parents.set(child, node)
        this.#index(child)
      }
    }
  }

  find() {
    const found = []
    for (const node of this.#nodes) {
      const file = fileOf(node)
      if (file !== null && (this.#areAllHandlers || this.#isHandlerFile(node)))
        found.push({ ...file, ...placeOf(node) })
      else if (isFunction(node)) {
        const thunk = this.#thunk(node)
        if (thunk !== null) found.push({ ...thunk, ...placeOf(node) })
      }
    }
    return found
  }

  /** True if the value of the expression becomes the option `filename`, or the first argument of a function such as `createPool()`. */
  #isHandlerFile(node, seen = new Set()) {
    for (let child = node, parent; ; child = parent) {
      parent = this.#parents.get(child)
      switch (parent?.type) {
        case 'ObjectProperty':
          return parent.value === child && nameOf(parent) === 'filename'
        case 'ClassProperty':
          return parent.value === child && nameOf(parent) === 'filename'
        case 'AssignmentExpression':
          return parent.right === child && nameOf(parent.left, 'property') === 'filename'
        case 'VariableDeclarator':
          return parent.init === child && this.#isUsedAsFile(parent.id, seen)
        case 'AssignmentPattern':
          return parent.right === child && this.#isUsedAsFile(parent.left, seen)
        case 'CallExpression':
        case 'OptionalCallExpression':
        case 'NewExpression':
          if (isConversion(parent)) continue
          return parent.arguments[0] === child && isPoolCall(parent)
        case 'MemberExpression':
          if (parent.object !== child || parent.computed) return false
          if (/^(href|pathname|toString)$/.test(parent.property.name)) continue
          return false
        case 'ConditionalExpression':
          if (parent.test === child) return false
          continue
        case 'LogicalExpression':
        case 'TSAsExpression':
        case 'TSSatisfiesExpression':
        case 'TSNonNullExpression':
        case 'TSTypeAssertion':
        case 'ParenthesizedExpression':
          continue
        default:
          return false
      }
    }
  }

  /** True if the module uses a variable as the file of a handler. */
  #isUsedAsFile(id, seen) {
    if (id.type !== 'Identifier' || seen.has(id.name)) return false
    seen.add(id.name)
    return this.#uses(id).some(use => this.#isHandlerFile(use, seen))
  }

  /** The places that name a variable, apart from its declaration. Scopes are ignored. */
  #uses(id) {
    return this.#nodes.filter(node => {
      if (node.type !== 'Identifier' || node.name !== id.name || node === id) return false
      const parent = this.#parents.get(node)
      if (parent.type === 'ObjectProperty' && parent.key === node) return false
      return !(/MemberExpression$/.test(parent.type) && parent.property === node && !parent.computed)
    })
  }

  /** `module: () => import('./work.js')`, or a variable with such a function. */
  #thunk(node) {
    const specifier = this.#onlyImport(node)
    if (specifier === null) return null
    let child = node
    let parent = this.#parents.get(child)
    while (
      /^(TS(As|Satisfies|NonNull)Expression|TSTypeAssertion|ParenthesizedExpression)$/.test(parent?.type)
    ) {
      child = parent
      parent = this.#parents.get(child)
    }
    const property = node.type === 'ObjectMethod' ? node : parent
    if (this.#isModuleOption(property, child)) {
      const edits = href => [asFilename(property, `new URL(${href})`), ...this.#withoutBase(property)]
      return { form: 'thunk', specifier, edits }
    }
    if (parent?.type !== 'VariableDeclarator' || parent.init !== child || parent.id.type !== 'Identifier')
      return null
    // Another use of the function, such as a call, needs the function.
    const properties = this.#uses(parent.id).map(use => this.#optionWith(use))
    if (properties.length === 0 || properties.includes(null)) return null
    return {
      form: 'thunk',
      specifier,
      edits: href => [
        { start: child.start, end: child.end, text: `new URL(${href})` },
        // A type such as `() => Promise<unknown>` no longer fits.
        ...(parent.id.typeAnnotation
          ? [{ start: parent.id.typeAnnotation.start, end: parent.id.typeAnnotation.end, text: '' }]
          : []),
        ...properties.flatMap(each => [asFilename(each, parent.id.name), ...this.#withoutBase(each)]),
      ],
    }
  }

  /** Beside `filename`, the option `base` has no meaning. `import.meta.url` in it has no value in a CommonJS bundle. */
  #withoutBase(property) {
    return this.#parents
      .get(property)
      .properties.filter(each => nameOf(each) === 'base' && each.type === 'ObjectProperty')
      .map(({ start, end }) => ({ start, end, text: '...{}' }))
  }

  #optionWith(use) {
    const parent = this.#parents.get(use)
    return this.#isModuleOption(parent, use) ? parent : null
  }

  /** True for the property `module` of a pool's options. Other libraries have properties of this name. */
  #isModuleOption(property, value) {
    if (property?.type === 'ObjectProperty' ? property.value !== value : property?.type !== 'ObjectMethod') {
      return false
    }
    if (nameOf(property) !== 'module') return false
    const options = this.#parents.get(property)
    if (options?.type !== 'ObjectExpression') return false
    const owner = this.#parents.get(options)
    if (/^(Call|OptionalCall|New)Expression$/.test(owner?.type) && isPoolCall(owner)) return true
    return this.#importsLibrary()
  }

  /** The specifier of the one `import()` or `require()` in a function. `null`: none, several, or not a constant. */
  #onlyImport(node) {
    const calls = this.#nodes.filter(
      each => each.start >= node.start && each.end <= node.end && isImportCall(each),
    )
    return calls.length === 1 ? textOf(calls[0].source ?? calls[0].arguments[0]) : null
  }

  #importsLibrary() {
    return this.#nodes.some(node => {
      const source = isImportCall(node) ? (node.source ?? node.arguments[0]) : node.source
      return source && library.test(textOf(source) ?? '')
    })
  }
}

/** The file that an expression names, or `null`. The edits keep the type of the value: a URL, or a string. */
function fileOf(node) {
  const [first, second] = node.arguments ?? []
  const { start, end } = node
  const asUrl = href => [{ start, end, text: `new URL(${href})` }]
  // A string of a `file:` URL, because an ES module has no function at hand that makes a path of it.
  const asString = href => [{ start, end, text: href }]
  if (node.type === 'NewExpression' && isNamed(node.callee, 'URL') && isThisFile(second)) {
    const specifier = textOf(first)
    return specifier === null ? null : { form: 'url', specifier, edits: asUrl }
  }
  if (node.type === 'CallExpression') {
    if (isResolve(node.callee)) {
      const specifier = textOf(first)
      return specifier === null ? null : { form: 'resolve', specifier, edits: asString }
    }
    if (isJoin(node.callee) && isThisFolder(first)) {
      const parts = node.arguments.slice(1).map(textOf)
      return pathFrom(parts, asString)
    }
  }
  if (node.type === 'BinaryExpression' && node.operator === '+' && isThisFolder(node.left)) {
    return pathFrom([textOf(node.right)], asString)
  }
  if (
    node.type === 'TemplateLiteral' &&
    node.expressions.length === 1 &&
    node.quasis[0].value.cooked === '' &&
    isThisFolder(node.expressions[0])
  ) {
    return pathFrom([node.quasis[1].value.cooked], asString)
  }
  return null
}

function pathFrom(parts, edits) {
  if (parts.length === 0 || parts.includes(null)) return null
  const path = parts.join('/').replace(/^\/+/, '')
  return { form: 'path', specifier: path.startsWith('.') ? path : `./${path}`, edits }
}

/** A string, or a template without expressions. */
function textOf(node) {
  if (node?.type === 'StringLiteral') return node.value
  if (node?.type === 'TemplateLiteral' && node.expressions.length === 0) return node.quasis[0].value.cooked
  return null
}

function isNamed(node, name) {
  return node?.type === 'Identifier' && node.name === name
}

function isMeta(node) {
  return node?.type === 'MetaProperty' && node.meta.name === 'import'
}

function isMember(node, isObject, property) {
  return (
    node?.type === 'MemberExpression' &&
    !node.computed &&
    node.property.name === property &&
    isObject(node.object)
  )
}

/** `import.meta.url`, or `pathToFileURL(__filename)`. */
function isThisFile(node) {
  if (isMember(node, isMeta, 'url')) return true
  return (
    node?.type === 'CallExpression' &&
    lastName(node.callee) === 'pathToFileURL' &&
    isNamed(node.arguments[0], '__filename')
  )
}

/** `__dirname`, `import.meta.dirname`, or the folder of `__filename`. */
function isThisFolder(node) {
  if (isNamed(node, '__dirname') || isMember(node, isMeta, 'dirname')) return true
  return (
    node?.type === 'CallExpression' &&
    lastName(node.callee) === 'dirname' &&
    (isNamed(node.arguments[0], '__filename') || isMember(node.arguments[0], isMeta, 'filename'))
  )
}

function isResolve(callee) {
  return isMember(callee, node => isNamed(node, 'require'), 'resolve') || isMember(callee, isMeta, 'resolve')
}

function isJoin(callee) {
  return /^(join|resolve)$/.test(lastName(callee) ?? '')
}

/** `fileURLToPath(url)`, `pathToFileURL(path)`, `String(url)` and `url.toString()` keep the file. */
function isConversion(call) {
  if (/^(fileURLToPath|pathToFileURL|String)$/.test(lastName(call.callee) ?? '')) return true
  return call.arguments.length === 0 && lastName(call.callee) === 'toString'
}

function isPoolCall(call) {
  return poolName.test(lastName(call.callee) ?? '')
}

/** `join` for `join`, `path.join` and `(0, node_path.join)`. */
function lastName(callee) {
  if (callee?.type === 'Identifier') return callee.name
  if (/MemberExpression$/.test(callee?.type)) return callee.computed ? null : callee.property.name
  if (callee?.type === 'SequenceExpression') return lastName(callee.expressions.at(-1))
  if (callee?.type === 'ParenthesizedExpression') return lastName(callee.expression)
  return null
}

function nameOf(node, key = 'key') {
  const name = node[key]
  if (name === undefined) return null
  return node.computed ? textOf(name) : (name.name ?? textOf(name))
}

function isFunction(node) {
  return /^(ArrowFunctionExpression|FunctionExpression|ObjectMethod)$/.test(node.type)
}

function isImportCall(node) {
  return (
    node.type === 'ImportExpression' || (node.type === 'CallExpression' && isNamed(node.callee, 'require'))
  )
}

function asFilename({ start, end }, value) {
  return { start, end, text: `filename: ${value}` }
}

function placeOf(node) {
  return { line: node.loc.start.line, column: node.loc.start.column }
}
