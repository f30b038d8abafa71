// Finds how a file imports a library, and writes the imports of lido in its place.
import { isString, keyOf } from './source.js'

/**
 * The local names of a library in a file: `{ isUsed, whole, named, statements }`. `whole` are the names of the default
 * export or of `require()`, `named` maps a local name to the imported one. Other ways to load the library are refused.
 */
export function findImports(source, library) {
  const found = { isUsed: false, whole: [], named: new Map(), statements: [] }
  for (const literal of source.ofType('StringLiteral')) {
    if (literal.value !== library) continue
    const parent = source.parentOf(literal)
    if (!isRequire(parent) && !loadsModule(parent)) continue
    found.isUsed = true
    if (parent.type === 'ImportDeclaration') readImport(source, parent, found)
    else if (isRequire(parent)) readRequire(source, parent, found)
    else source.refuse(literal, `This use of '${library}' is no plain import.`)
  }
  return found
}

/** A dynamic import, a re-export, `import x = require()`, `require.resolve()`, `jest.mock()` and the like. Other texts are data. */
function loadsModule(node) {
  if (/^(Import|Export|TSExternalModuleReference|TSImportType)/.test(node.type)) return true
  if (node.type !== 'CallExpression') return false
  const { callee } = node
  const name = callee.type === 'MemberExpression' ? callee.property.name : callee.type
  return /^(Import|resolve|mock|doMock|unmock|dontMock|requireActual|importActual)$/.test(name)
}

function readImport(source, statement, found) {
  found.statements.push(statement)
  if (statement.specifiers.length === 0) source.refuse(statement, 'An import without names.')
  for (const specifier of statement.specifiers) {
    const local = specifier.local.name
    if (specifier.type === 'ImportSpecifier') {
      const imported = specifier.imported.name ?? specifier.imported.value
      if (imported === 'default') found.whole.push(local)
      else found.named.set(local, imported)
    } else found.whole.push(local)
  }
}

function isRequire(node) {
  return node.type === 'CallExpression' && node.callee.type === 'Identifier' && node.callee.name === 'require'
}

function readRequire(source, call, found) {
  const declarator = source.parentOf(call)
  const statement = source.parentOf(declarator)
  if (declarator.type !== 'VariableDeclarator' || statement.declarations.length !== 1) {
    source.refuse(call, 'This require() is not the only value of a declaration.')
    return
  }
  found.statements.push(statement)
  if (declarator.id.type === 'Identifier') {
    found.whole.push(declarator.id.name)
    return
  }
  for (const property of declarator.id.properties ?? []) {
    if (property.type === 'ObjectProperty' && property.value.type === 'Identifier')
      found.named.set(property.value.name, keyOf(property))
    else source.refuse(property, 'This part of the require() is not understood.')
  }
}

/** Puts the imports that the changed file needs in the place of the old ones. */
export function writeImports(source, statements) {
  const [first, ...others] = statements
  for (const statement of others) source.removeStatement(statement)
  const lines = Array.from(source.needs, ([module, names]) => importLine(source, first, module, names))
  if (lines.length === 0) source.removeStatement(first)
  else source.replace(first, lines.join('\n'))
}

function importLine(source, statement, module, names) {
  const text = source.textOf(statement)
  const quote = text.includes('"') ? '"' : "'"
  const end = text.endsWith(';') ? ';' : ''
  const from = `${quote}${module}${quote}`
  if (statement.type === 'ImportDeclaration') {
    const list = Array.from(names, ([imported, local]) =>
      imported === local ? imported : `${imported} as ${local}`,
    )
    const isType = statement.importKind === 'type'
    return `import ${isType ? 'type ' : ''}{ ${list.join(', ')} } from ${from}${end}`
  }
  const list = Array.from(names, ([imported, local]) =>
    imported === local ? imported : `${imported}: ${local}`,
  )
  return `${statement.kind} { ${list.join(', ')} } = require(${from})${end}`
}

/** Refuses the file if it already has something else of a name that the changed file needs. */
export function checkNames(source, statements) {
  for (const names of source.needs.values()) {
    for (const local of names.values()) {
      const others = source
        .declarations(local)
        .filter(node => !statements.some(({ start, end }) => start <= node.start && node.end <= end))
      if (others.length > 0) source.refuse(others[0], `The file has another '${local}'. Rename it first.`)
    }
  }
}

/** True for a text such as `'./worker.js'`, which depends on the working directory. */
export function isRelativeString(node) {
  return isString(node) && /^\.{0,2}\/?[^/]/.test(node.value) && !node.value.startsWith('file:')
}
