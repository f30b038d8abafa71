// One source file: its syntax tree, its edits, and what a person must decide about it.
import { parse } from '@babel/parser'
import MagicString from 'magic-string'

const skippedKeys = new Set([
  'loc',
  'errors',
  'extra',
  'leadingComments',
  'innerComments',
  'trailingComments',
])

export class Source {
  /** `{ line, text }` for each place that a person should look at. The file changes nevertheless. */
  notes = []
  /** `{ line, start, text }` for each place that a person must decide. */
  refusals = []
  /** True if the file creates a pool. */
  hasPool = false
  /** True if a pool of tinypool has the option `teardown`. */
  hasTeardown = false
  /** True if the file calls `worker()` of workerpool. */
  callsWorker = false
  /** True if the file registers functions of workerpool. */
  hasWorker = false
  /** The names of public fields that hold a pool. Other files may use them, too. */
  fields = []
  /** The names of the files with the workers, without the extension. */
  scripts = []
  /** The names that the changed file imports: `module → Map(imported → local)`. */
  #needs = new Map()
  #parents = new Map()
  #nodes = []
  #removed = []

  /** Throws a SyntaxError if the text cannot be parsed. */
  constructor(text, path) {
    this.text = text
    this.edits = new MagicString(text)
    this.isTypeScript = /\.[cm]?tsx?$/.test(path)
    this.eol = text.includes('\r\n') ? '\r\n' : '\n'
    const plugins = [
      ...['decorators-legacy', 'decoratorAutoAccessors', 'explicitResourceManagement', 'importAttributes'],
    ]
    if (this.isTypeScript) plugins.push('typescript')
    if (!this.isTypeScript || path.endsWith('x')) plugins.push('jsx')
    const sourceType = /\.m[jt]s$/.test(path) ? 'module' : 'unambiguous'
    const file = parse(text, { sourceType, plugins, allowReturnOutsideFunction: true })
    this.program = file.program
    this.comments = file.comments
    this.#index(this.program)
  }

  get isModule() {
    return this.program.sourceType === 'module'
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

  parentOf(node) {
    return this.#parents.get(node)
  }

  textOf(node) {
    const text = this.text.slice(node.start, node.end)
    return node.extra?.parenthesized ? `(${text})` : text
  }

  get nodes() {
    return this.#nodes
  }

  ofType(...types) {
    return this.#nodes.filter(node => types.includes(node.type))
  }

  /** The texts of the file: strings, parts of templates, regular expressions and comments, each with its line. */
  get texts() {
    const nodes = this.ofType(
      ...['StringLiteral', 'TemplateElement', 'RegExpLiteral', 'DirectiveLiteral', 'JSXText'],
    )
    return [...nodes, ...this.comments].map(node => ({
      node,
      text: String(node.value?.raw ?? node.value ?? node.pattern),
    }))
  }

  note(node, text) {
    this.notes.push({ line: node.loc.start.line, text })
  }

  /** @param message may quote code of several lines */
  refuse(node, message) {
    const { line } = node.loc.start
    const text = message.replaceAll(/\s+/g, ' ')
    if (!this.refusals.some(other => other.line === line && other.text === text))
      this.refusals.push({ line, start: node.start, text })
  }

  replace(node, text) {
    this.edits.overwrite(node.start, node.end, text)
  }

  /** Says that the changed file imports a name, and returns its local name. */
  need(module, imported, local = imported) {
    if (!this.#needs.has(module)) this.#needs.set(module, new Map())
    const names = this.#needs.get(module)
    if (!names.has(imported)) names.set(imported, local)
    else if (local !== imported && names.get(imported) !== local)
      this.refuse(this.program, `The file has two names for '${imported}'.`)
    return names.get(imported)
  }

  get needs() {
    return this.#needs
  }

  /** The identifiers that declare a variable, a parameter, a function, a class or an import of this name. */
  declarations(name) {
    return this.ofType('Identifier').filter(node => node.name === name && this.#declares(node))
  }

  #declares(node) {
    let child = node
    let parent = this.parentOf(child)
    // Steps out of patterns such as `{ a: [b = 1] }` to the place that declares them.
    while (parent !== undefined) {
      if (parent.type === 'AssignmentPattern' && parent.right === child) return false
      const isPattern =
        ['ObjectPattern', 'ArrayPattern', 'RestElement', 'AssignmentPattern', 'TSParameterProperty'].includes(
          parent.type,
        ) ||
        (parent.type === 'ObjectProperty' &&
          parent.value === child &&
          this.parentOf(parent).type === 'ObjectPattern')
      if (!isPattern) break
      child = parent
      parent = this.parentOf(child)
    }
    switch (parent?.type) {
      case 'VariableDeclarator':
        return parent.id === child
      case 'CatchClause':
        return parent.param === child
      case 'ImportSpecifier':
      case 'ImportDefaultSpecifier':
      case 'ImportNamespaceSpecifier':
        return parent.local === child
      case 'ClassDeclaration':
      case 'ClassExpression':
      case 'TSModuleDeclaration':
      case 'TSImportEqualsDeclaration':
      case 'TSEnumDeclaration':
      case 'TSTypeAliasDeclaration':
      case 'TSInterfaceDeclaration':
      case 'TSTypeParameter':
        return parent.id === child
      default:
        return parent !== undefined && (parent.params?.includes(child) || isFunctionName(parent, child))
    }
  }

  /** The identifiers that use the variable of this name, outside removed code. */
  references(name) {
    return this.ofType('Identifier', 'JSXIdentifier').filter(
      node => node.name === name && this.#refers(node) && !this.#declares(node) && !this.isRemoved(node),
    )
  }

  #refers(node) {
    const parent = this.parentOf(node)
    switch (parent.type) {
      case 'MemberExpression':
      case 'OptionalMemberExpression':
        return parent.object === node || parent.computed
      case 'ObjectProperty':
        // A shorthand property has two nodes at the same place. The value is the reference.
        return parent.value === node || parent.computed
      case 'ObjectMethod':
      case 'ClassMethod':
      case 'ClassProperty':
      case 'ClassAccessorProperty':
      case 'TSPropertySignature':
      case 'TSMethodSignature':
        return parent.key !== node || parent.computed
      case 'ImportSpecifier':
      case 'JSXAttribute':
      case 'MetaProperty':
      case 'LabeledStatement':
      case 'BreakStatement':
      case 'ContinueStatement':
      case 'PrivateName':
      case 'TSEnumMember':
        return false
      case 'ExportSpecifier':
        return parent.local === node
      case 'TSQualifiedName':
        return parent.left === node
      default:
        return true
    }
  }

  /** The nodes that name a property or private field: `a.name`, `{ name }` of a pattern, and the members of classes. */
  keys(name) {
    const ofMember = /^(Optional)?MemberExpression$/
    return this.ofType('Identifier', 'PrivateName', 'StringLiteral').filter(node => {
      if ((isString(node) ? node.value : this.textOf(node)) !== name || this.isRemoved(node)) return false
      const parent = this.parentOf(node)
      if (ofMember.test(parent.type)) return parent.property === node && (!parent.computed || isString(node))
      if (parent.type === 'ObjectProperty')
        return parent.key === node && this.parentOf(parent).type === 'ObjectPattern'
      if (parent.type === 'BinaryExpression') return parent.operator === 'in' && parent.left === node
      if (node.type === 'Identifier' && this.#isParameterProperty(node)) return true
      return /^Class/.test(parent.type) && parent.key === node
    })
  }

  #isParameterProperty(node) {
    const parent = this.parentOf(node)
    return (
      (parent.type === 'AssignmentPattern' ? this.parentOf(parent) : parent).type === 'TSParameterProperty'
    )
  }

  /** Replaces a reference by another name. A shorthand property `{ a }` becomes `{ a: b }`. */
  rename(reference, name) {
    const parent = this.parentOf(reference)
    const isShorthand = parent.type === 'ObjectProperty' && parent.shorthand
    this.replace(reference, isShorthand ? `${reference.name}: ${name}` : name)
  }

  isRemoved(node) {
    return this.#removed.some(({ start, end }) => start <= node.start && node.end <= end)
  }

  remove(node) {
    this.#removed.push(node)
    this.edits.remove(node.start, node.end)
  }

  /** Removes a statement with its line. At the start of the file, the empty lines behind it go too. */
  removeStatement(node) {
    this.#removed.push(node)
    const isFirst = this.text.slice(0, node.start).trim() === ''
    const behind = isFirst ? /^\s*/ : /^[ \t]*\r?\n/
    const length = behind.exec(this.text.slice(node.end))?.[0].length ?? 0
    this.edits.remove(node.start, node.end + length)
  }

  /** Removes properties of an object with their commas. */
  removeProperties(object, removed) {
    this.#removed.push(...removed)
    const { properties } = object
    for (let index = 0; index < properties.length; index++) {
      if (!removed.includes(properties[index])) continue
      const next = properties.slice(index).find(property => !removed.includes(property))
      const before = properties.slice(0, index).findLast(property => !removed.includes(property))
      if (next !== undefined) this.edits.remove(properties[index].start, next.start)
      else if (before !== undefined) this.edits.remove(before.end, properties[index].end)
      else this.edits.remove(object.start + 1, object.end - 1)
    }
  }
}

function isFunctionName(parent, child) {
  return /^(TSDeclareFunction|Function(Declaration|Expression))$/.test(parent.type) && parent.id === child
}

/** The class that `this` belongs to at a place; `undefined` outside the methods and fields of a class. */
export function classOf(source, place) {
  for (let node = place; node !== undefined; node = source.parentOf(node)) {
    const isMember = /^Class(Private)?(Method|Property)$/.test(node.type)
    if (isMember) return node.static ? undefined : source.parentOf(source.parentOf(node))
    if (/^(Function(Declaration|Expression)|ObjectMethod|StaticBlock|TSModuleBlock)$/.test(node.type))
      return undefined
  }
  return undefined
}

/** Refuses code that has a message of a library. It may compare the message with the one of an error. */
export function refuseMessages(source, messages, library) {
  for (const { node, text } of source.texts) {
    if (messages.test(text) && !node.type.startsWith('Comment'))
      source.refuse(node, `A message of ${library}. Compare error.code in its place.`)
  }
}

/** The name of a property that is no computed one. */
export function keyOf(property) {
  if (property.computed) return undefined
  return property.key?.name ?? property.key?.value
}

export function isString(node) {
  return node?.type === 'StringLiteral'
}
