// Finds the variables and fields that hold a pool, and changes the members that a file uses of them. Any other use is refused.
import { classOf } from './source.js'

const elsewhere = 'The pool is used elsewhere here. Only direct calls of its methods are understood.'

export class Pools {
  #source
  /** The names of variables, and of fields with the class that has them: `name → class`. */
  #variables = new Set()
  #fields = new Map()
  #values = new Set()

  constructor(source) {
    this.#source = source
  }

  /** Learns where the program stores the pool of this expression. */
  created(expression) {
    const source = this.#source
    const parent = source.parentOf(expression)
    source.hasPool = true
    this.#values.add(expression)
    if (parent.type === 'VariableDeclarator' && parent.id.type === 'Identifier') {
      const isExported = source.parentOf(source.parentOf(parent)).type === 'ExportNamedDeclaration'
      if (isExported || source.declarations(parent.id.name).length > 1) source.refuse(expression, elsewhere)
      this.#variables.add(parent.id.name)
    } else if (/^Class(Private)?Property$/.test(parent.type) && !parent.static && !parent.computed) {
      this.#addField(parent.key, parent)
    } else if (this.#setsField(parent)) {
      this.#addField(parent.left.property, parent.left.object)
    } else if (parent.type !== 'ExpressionStatement') source.refuse(expression, elsewhere)
  }

  #addField(key, place) {
    const owner = classOf(this.#source, place)
    const name = this.#source.textOf(key)
    const other = this.#fields.get(name)
    if (owner === undefined || (other !== undefined && other !== owner))
      this.#source.refuse(place, `The field '${name}' must belong to one class of this file.`)
    this.#fields.set(name, owner)
    if (key.type === 'Identifier') this.#source.fields.push(name)
  }

  /** True if the type is the annotation of a variable or field that gets a pool in this file. */
  isTyped(reference) {
    let node = this.#source.parentOf(reference)
    while (/^TS(TypeReference|UnionType|TypeAnnotation)$/.test(node.type)) node = this.#source.parentOf(node)
    return node.type === 'Identifier'
      ? this.#variables.has(node.name)
      : /^Class(Private)?Property$/.test(node.type) && this.#fields.has(this.#source.textOf(node.key))
  }

  /** Calls `use(member, name)` for each member of a pool. */
  each(use) {
    const source = this.#source
    for (const place of [...this.#variables].flatMap(name => source.references(name))) this.#visit(place, use)
    for (const [name, owner] of this.#fields) {
      for (const key of source.keys(name)) {
        const parent = source.parentOf(key)
        const isDeclaration = /^Class(Private)?Property$/.test(parent.type) && !parent.static
        if (isDeclaration && source.parentOf(source.parentOf(parent)) === owner) continue
        const isOwn = parent.object?.type === 'ThisExpression' && !parent.computed
        if (isOwn && classOf(source, parent.object) === owner) this.#visit(parent, use)
        else source.refuse(key, `'${name}' is a pool elsewhere in the file, and may be another thing here.`)
      }
    }
  }

  #visit(place, use) {
    const source = this.#source
    const isAsserted = source.parentOf(place).type === 'TSNonNullExpression'
    const child = isAsserted ? source.parentOf(place) : place
    const parent = source.parentOf(child)
    if (/^(Optional)?MemberExpression$/.test(parent.type) && parent.object === child) {
      if (parent.computed) source.refuse(parent, `A computed member of the pool: ${source.textOf(parent)}.`)
      else use(parent, parent.property.name)
    } else if (!isTest(parent, child) && !this.#setsField(parent)) source.refuse(place, elsewhere)
  }

  /** `this.pool = new Piscina()`, `this.pool ??= new Piscina()` or `this.pool = undefined`, as a statement. */
  #setsField({ type, left, right, ...node }) {
    if (type !== 'AssignmentExpression' || !/^(=|\?\?=|\|\|=)$/.test(node.operator)) return false
    if (left.object?.type !== 'ThisExpression' || left.computed) return false
    const isNothing = right.type === 'NullLiteral' || right.name === 'undefined'
    const statement = this.#source.parentOf(this.#source.parentOf(left))
    return statement.type === 'ExpressionStatement' && (isNothing || this.#values.has(right))
  }
}

/** The value of the pool is only compared, so it goes nowhere. */
function isTest(parent, child) {
  return (
    (parent.type === 'UnaryExpression' && parent.operator === '!') ||
    (parent.type === 'BinaryExpression' && /^[!=]==?$/.test(parent.operator)) ||
    (parent.type === 'LogicalExpression' && parent.operator === '&&' && parent.left === child) ||
    (/^(If|While)Statement$|^ConditionalExpression$/.test(parent.type) && parent.test === child)
  )
}
