// Follows the variables and fields that hold a pool, and changes the members that a file uses of them.

/** Steps out of `(x)`, `x as T`, `x satisfies T`, `x!` and `y ?? x`. */
function outermost(source, node) {
  let child = node
  let parent = source.parentOf(child)
  const wrappers = [
    ...['TSAsExpression', 'TSSatisfiesExpression', 'TSNonNullExpression'],
    ...['ParenthesizedExpression', 'LogicalExpression'],
  ]
  while (wrappers.includes(parent.type)) {
    child = parent
    parent = source.parentOf(child)
  }
  return { child, parent }
}

export class Pools {
  #source
  /** `pool`, `this.pool`, `this.#pool`, `app.pool`. */
  #keys = new Set()
  /** The identifiers that declare a pool. */
  #declared = new Set()

  constructor(source) {
    this.#source = source
  }

  /** Learns where the program stores the pool of this expression. Calls `leave` if it goes elsewhere. */
  created(expression, leave) {
    this.#source.hasPool = true
    const { child, parent } = outermost(this.#source, expression)
    if (parent.type === 'VariableDeclarator' && parent.init === child && parent.id.type === 'Identifier') {
      this.#declare(parent.id)
    } else if (parent.type === 'AssignmentExpression' && parent.right === child) {
      this.#keys.add(this.#keyOf(parent.left))
    } else if (parent.type === 'ClassProperty' || parent.type === 'ClassPrivateProperty') {
      this.#keys.add(`this.${this.#source.textOf(parent.key)}`)
    } else if (parent.type !== 'ExpressionStatement') {
      leave(expression)
    }
    const statement = this.#source.parentOf(parent)
    if (this.#source.parentOf(statement)?.type === 'ExportNamedDeclaration') leave(expression)
  }

  /** Learns which variable, parameter or field has this type. */
  typed(reference) {
    let node = this.#source.parentOf(reference)
    while (/^TS(TypeReference|UnionType|ParenthesizedType|TypeAnnotation)$/.test(node.type)) {
      node = this.#source.parentOf(node)
    }
    if (node.type === 'Identifier') {
      this.#declare(node)
      if (this.#source.parentOf(node).type === 'TSParameterProperty') this.#keys.add(`this.${node.name}`)
    } else if (node.type === 'ClassProperty' || node.type === 'ClassPrivateProperty') {
      this.#keys.add(`this.${this.#source.textOf(node.key)}`)
    }
  }

  #declare(identifier) {
    this.#declared.add(identifier)
    this.#keys.add(identifier.name)
  }

  #keyOf(node) {
    return this.#source.textOf(node).replaceAll(/\s|[?!](?=\.)/g, '')
  }

  /** Calls `use(member, name)` for each member of a pool, and `leave(node)` where a pool goes elsewhere. */
  each(use, leave) {
    const source = this.#source
    this.#checkDeclarations()
    const nodes = [...source.ofType('MemberExpression'), ...source.ofType('OptionalMemberExpression')]
    const places = [
      ...nodes.filter(node => this.#keys.has(this.#keyOf(node))),
      ...[...this.#keys].filter(key => /^[\w$]+$/.test(key)).flatMap(key => source.references(key)),
    ]
    for (const place of places) {
      if (source.isRemoved(place)) continue
      let child = place
      let parent = source.parentOf(child)
      while (parent.type === 'TSNonNullExpression') {
        child = parent
        parent = source.parentOf(child)
      }
      if (/^(Optional)?MemberExpression$/.test(parent.type) && parent.object === child) {
        if (parent.computed) source.refuse(parent, `A computed member of the pool: ${source.textOf(parent)}.`)
        else use(parent, parent.property.name)
      } else if (!isHarmless(parent, child)) leave(place)
    }
  }

  /** A name that also means something else would be changed in the wrong places. */
  #checkDeclarations() {
    for (const key of this.#keys) {
      for (const node of this.#source.declarations(key)) {
        const parent = this.#source.parentOf(node)
        const isPool =
          this.#declared.has(node) || (parent.type === 'VariableDeclarator' && parent.init === null)
        if (!isPool)
          this.#source.refuse(
            node,
            `'${key}' is a pool elsewhere in the file, and may be another thing here.`,
          )
      }
    }
  }
}

function isHarmless(parent, child) {
  return (
    (parent.type === 'AssignmentExpression' && parent.left === child) ||
    ['IfStatement', 'UnaryExpression', 'LogicalExpression', 'BinaryExpression', 'TSTypeQuery'].includes(
      parent.type,
    ) ||
    (parent.type === 'ConditionalExpression' && parent.test === child)
  )
}
