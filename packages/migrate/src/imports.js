// Finds how a file imports a library, and writes the imports of lido in its place.
import { isAbsolute } from 'node:path'
import { doorOf } from './partial.js'
import { isString, keyOf } from './source.js'

/**
 * The local names of a library, or of lido's door for it, in a file: `{ isUsed, whole, named, statement, specifiers }`. `whole` are the
 * names of the default export or of `require()`, `named` maps a local name to the imported one. `specifiers` are the texts that name the
 * library. Other ways to load the library are refused.
 */
export function findImports(source, library) {
  const found = { isUsed: false, whole: [], named: new Map(), statement: undefined, specifiers: [] }
  const imports = []
  const isName = text => text === library || text === doorOf(library)
  for (const literal of source.ofType('StringLiteral', 'TemplateElement')) {
    const text = isString(literal) ? literal.value : literal.value.cooked
    if (!isName(text) && !text?.startsWith(`${library}/`)) continue
    const parent = source.parentOf(isString(literal) ? literal : source.parentOf(literal))
    if (!loadsModule(source, parent)) continue
    found.isUsed = true
    if (isName(text)) found.specifiers.push({ node: literal, library })
    // A second import has a refusal of its own.
    if (parent.type === 'ImportDeclaration') imports.push(parent)
    const isPlain = isString(literal) && isName(text)
    if (isPlain && parent.type === 'ImportDeclaration') readImport(source, parent, found)
    else if (isPlain && isRequire(parent)) readRequire(source, parent, found)
    else source.refuse(literal, `This use of '${library}' is no plain import. Write one import at the top.`)
  }
  if (found.statement !== undefined) {
    const names = [...found.whole, ...found.named.keys()]
    for (const node of names.flatMap(name => source.declarations(name))) {
      if (![found.statement, ...imports].some(statement => isInside(node, statement)))
        source.refuse(node, `'${node.name}' has a second meaning in this file. Rename one of them.`)
    }
  }
  return found
}

/** An import, a re-export, `require()`, `require.resolve()`, a mock and the like. Other texts are data. */
function loadsModule(source, node) {
  if (/^(Import|Export|TSExternalModuleReference|TSImportType|TSModule)/.test(node.type)) return true
  const isCall = /^(Optional)?CallExpression$/.test(node.type)
  return isCall && /require|import|resolve|mock|module|proxyquire/i.test(source.textOf(node.callee))
}

function isInside(node, { start, end }) {
  return start <= node.start && node.end <= end
}

/** Remembers the only statement that loads the library. */
function setStatement(source, statement, found) {
  if (found.statement !== undefined) source.refuse(statement, 'The file imports the library twice.')
  else if (source.parentOf(statement) !== source.program)
    source.refuse(statement, 'This import is not at the top of the file.')
  found.statement = statement
}

function readImport(source, statement, found) {
  setStatement(source, statement, found)
  if (statement.specifiers.length === 0) source.refuse(statement, 'An import without names.')
  if ([statement, ...statement.specifiers].some(({ importKind }) => /type/.test(importKind)))
    source.refuse(statement, 'An import of a type.')
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
  setStatement(source, statement, found)
  if (declarator.id.type === 'Identifier') {
    found.whole.push(declarator.id.name)
    return
  }
  for (const property of declarator.id.properties ?? [declarator.id]) {
    if (property.type === 'ObjectProperty' && property.value.type === 'Identifier' && !property.computed)
      found.named.set(property.value.name, keyOf(property))
    else source.refuse(property, 'This part of the require() is not understood.')
  }
}

/** Puts the imports that the changed file needs in the place of the old one. */
export function writeImports(source, statement) {
  const lines = Array.from(source.needs, ([module, names]) => importLine(source, statement, module, names))
  if (lines.length === 0) source.removeStatement(statement)
  else source.replace(statement, lines.join(source.eol))
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
    return `import { ${list.join(', ')} } from ${from}${end}`
  }
  const list = Array.from(names, ([imported, local]) =>
    imported === local ? imported : `${imported}: ${local}`,
  )
  return `${statement.kind} { ${list.join(', ')} } = require(${from})${end}`
}

/** Refuses the file if it already has something else of a name that the changed file needs. */
export function checkNames(source, statement) {
  for (const names of source.needs.values()) {
    for (const local of names.values()) {
      const other = source.declarations(local).find(node => !isInside(node, statement))
      if (other !== undefined) source.refuse(other, `The file has another '${local}'. Rename it first.`)
    }
  }
}

/** Refuses a text such as `'./worker.js'`, which depends on the working directory. Remembers the name of the file. */
export function checkPath(source, node) {
  const value = constantOf(source, node)
  const script = /([^/'"`\\]+)\.\w+['"`]/.exec(source.textOf(value))
  if (script !== null) source.scripts.push(script[1])
  const text = value.type === 'TemplateLiteral' ? value.quasis[0].value.cooked : value.value
  const isText = isString(value) || (value.type === 'TemplateLiteral' && text !== '')
  if (isText && !isAbsolute(text) && !text.startsWith('file:')) {
    source.refuse(
      node,
      `A relative path: ${source.textOf(value)}. Write new URL(path, import.meta.url) or an absolute path.`,
    )
  } else if (value.type === 'Identifier' && !/^__(filename|dirname)$/.test(value.name))
    source.note(node, `'${value.name}' must be an absolute path or a file URL.`)
}

/** The value of a constant that the file declares once; else the node itself. */
export function constantOf(source, node) {
  const [declared, ...others] = node.type === 'Identifier' ? source.declarations(node.name) : []
  const declarator = declared && source.parentOf(declared)
  const isConstant =
    others.length === 0 &&
    declarator?.type === 'VariableDeclarator' &&
    declarator.init &&
    declarator.id === declared
  return isConstant ? constantOf(source, declarator.init) : node
}
