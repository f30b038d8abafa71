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
  /** `{ line, text }` for each reason why the file stays as it is. */
  refusals = []
  /** True if the file creates a pool. */
  hasPool = false
  /** True if the file uses `move()`, `workerData` or another name that a worker may import. */
  usesMarks = false
  /** The names that the changed file imports: `module → Map(imported → local)`. */
  #needs = new Map()
  #parents = new Map()
  #nodes = []
  #removed = []

  /** Throws a SyntaxError if the text cannot be parsed. */
  constructor(text, path) {
    this.text = text
    this.edits = new MagicString(text)
    const isTypeScript = /\.[cm]?tsx?$/.test(path)
    const plugins = ['decorators-legacy', 'explicitResourceManagement', 'importAttributes']
    if (isTypeScript) plugins.push('typescript')
    if (!isTypeScript || path.endsWith('x')) plugins.push('jsx')
    const sourceType = /\.m[jt]s$/.test(path) ? 'module' : 'unambiguous'
    this.program = parse(text, { sourceType, plugins, allowReturnOutsideFunction: true }).program
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
    return this.text.slice(node.start, node.end)
  }

  ofType(type) {
    return this.#nodes.filter(node => node.type === type)
  }

  note(node, text) {
    this.notes.push({ line: node.loc.start.line, text })
  }

  refuse(node, text) {
    this.refusals.push({ line: node.loc.start.line, text })
  }

  replace(node, text) {
    this.edits.overwrite(node.start, node.end, text)
  }

  /** Says that the changed file imports a name, and returns its local name. */
  need(module, imported, local = imported) {
    if (!this.#needs.has(module)) this.#needs.set(module, new Map())
    const names = this.#needs.get(module)
    if (!names.has(imported)) names.set(imported, local)
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
    return this.ofType('Identifier').filter(
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
      case 'TSPropertySignature':
      case 'TSMethodSignature':
        return parent.key !== node || parent.computed
      case 'ImportSpecifier':
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

/** The name of a property that is no computed one. */
export function keyOf(property) {
  if (property.computed) return undefined
  return property.key?.name ?? property.key?.value
}

export function isString(node) {
  return node?.type === 'StringLiteral'
}
