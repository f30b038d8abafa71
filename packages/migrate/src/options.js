// Changes the object literal of a pool's options.
import { keyOf } from './source.js'

/** The literal behind a variable that the program declares once and uses only here; else the node itself. */
export function literalOf(source, node) {
  if (node.type !== 'Identifier') return node
  const declared = source.declarations(node.name)
  const declarator = source.parentOf(declared[0])
  const isOnlyUse = declared.length === 1 && source.references(node.name).length === 1
  const isExported =
    declared.length > 0 && source.parentOf(source.parentOf(declarator))?.type === 'ExportNamedDeclaration'
  const isLiteral =
    declarator?.type === 'VariableDeclarator' && declarator.init?.type === 'ObjectExpression' && !isExported
  return isOnlyUse && isLiteral && declared[0].typeAnnotation === undefined ? declarator.init : node
}

/**
 * Applies a table to an object of options. A value of the table is `true` (stays), a string (the new name), or a function
 * `(property, source) => action`. An action is `true`, a string (the new text of the property), `'remove'`, or `undefined`
 * after a refusal. Returns the number of properties that stay.
 */
export function changeOptions(source, object, table, library) {
  if (object.type !== 'ObjectExpression') {
    source.refuse(object, `The options of ${library} are no object literal here: ${source.textOf(object)}.`)
    return 0
  }
  const removed = []
  for (const property of object.properties) {
    const key = property.type === 'ObjectProperty' ? keyOf(property) : undefined
    if (key === undefined) {
      source.refuse(property, `This part of the options is not readable: ${source.textOf(property)}.`)
      continue
    }
    const rule = Object.hasOwn(table, key) ? table[key] : undefined
    if (rule === undefined)
      source.refuse(property, `The option '${key}' has no equivalent that is safe to write.`)
    else if (typeof rule === 'string') renameKey(source, property, rule)
    else if (typeof rule === 'function') {
      const action = rule(property, source)
      if (action === 'remove') removed.push(property)
      else if (typeof action === 'string') source.replace(property, action)
    }
  }
  source.removeProperties(object, removed)
  return object.properties.length - removed.length
}

function renameKey(source, property, name) {
  if (property.shorthand) source.replace(property, `${name}: ${source.textOf(property.value)}`)
  else source.replace(property.key, name)
}

/** A rule that removes an option, and says why. */
export function without(reason) {
  return (property, source) => {
    source.note(property, `'${keyOf(property)}' is removed: ${reason}`)
    return 'remove'
  }
}

/** A rule that leaves the file as it is. */
export function undecided(reason) {
  return (property, source) => {
    source.refuse(property, `'${keyOf(property)}': ${reason}`)
  }
}
