// Reads a source file and tells what it imports and which globals it names, each with its line.
import ts from 'typescript'

/** What was read last of each file, and in which text: the checker reads all of them again for each case. */
const known = new Map()

/**
 * `kind` is 'value', 'type' or 'dynamic'; `names` are the names imported, '*' for all of them. A dynamic import of what
 * is not a plain string has `null` as its specifier.
 */
export function readImports(path, text) {
  if (known.get(path)?.text !== text) known.set(path, { text, found: read(path, text) })
  return known.get(path).found
}

function read(path, text) {
  const source = ts.createSourceFile(path, text, ts.ScriptTarget.Latest, true)
  const imports = []
  const globals = []
  const lineOf = node => source.getLineAndCharacterOfPosition(node.getStart(source)).line + 1
  const add = (node, specifier, kind, names) => {
    imports.push({ line: lineOf(node), specifier: literal(specifier), kind, names })
  }

  const visit = node => {
    if (ts.isImportDeclaration(node)) {
      const { kind, names } = readClause(node.importClause)
      add(node, node.moduleSpecifier, kind, names)
    } else if (ts.isExportDeclaration(node) && node.moduleSpecifier) {
      const names = readExported(node)
      add(node, node.moduleSpecifier, names.length === 0 ? 'type' : 'value', names)
    } else if (ts.isImportEqualsDeclaration(node) && ts.isExternalModuleReference(node.moduleReference)) {
      add(node, node.moduleReference.expression, node.isTypeOnly ? 'type' : 'value', ['*'])
    } else if (ts.isImportTypeNode(node)) {
      add(node, node.argument.literal, 'type', ['*'])
    } else if (isDynamicImport(node)) {
      add(node, node.arguments[0], 'dynamic', ['*'])
    } else if (isBuiltinAskedFor(node)) {
      add(node, node.arguments[0], 'value', namesTaken(node.parent))
    } else if (ts.isIdentifier(node) && isReference(node)) {
      globals.push({ line: lineOf(node), name: node.text })
    } else if (isMemberOfGlobal(node)) {
      globals.push({ line: lineOf(node), name: node.name.text })
    } else if (isTakenFromGlobal(node)) {
      globals.push({ line: lineOf(node), name: (node.propertyName ?? node.name).text })
    }
    ts.forEachChild(node, visit)
  }
  visit(source)
  return { imports, globals }
}

function literal(node) {
  return node && ts.isStringLiteralLike(node) ? node.text : null
}

function readClause(clause) {
  if (!clause) return { kind: 'value', names: [] }
  const names = []
  if (clause.name) names.push('default')
  if (clause.namedBindings && ts.isNamespaceImport(clause.namedBindings)) names.push('*')
  if (clause.namedBindings && ts.isNamedImports(clause.namedBindings)) {
    for (const element of clause.namedBindings.elements) {
      if (!element.isTypeOnly) names.push((element.propertyName ?? element.name).text)
    }
  }
  return clause.isTypeOnly || names.length === 0 ? { kind: 'type', names: [] } : { kind: 'value', names }
}

function readExported(node) {
  if (node.isTypeOnly) return []
  if (!node.exportClause || ts.isNamespaceExport(node.exportClause)) return ['*']
  return node.exportClause.elements
    .filter(element => !element.isTypeOnly)
    .map(element => (element.propertyName ?? element.name).text)
}

function isDynamicImport(node) {
  if (!ts.isCallExpression(node)) return false
  if (node.expression.kind === ts.SyntaxKind.ImportKeyword) return true
  return ts.isIdentifier(node.expression) && node.expression.text === 'require'
}

/** `getBuiltinModule('node:os')`, of `process` or kept from it, is an import as well. */
function isBuiltinAskedFor(node) {
  if (!ts.isCallExpression(node)) return false
  const called = ts.isPropertyAccessExpression(node.expression) ? node.expression.name : node.expression
  return ts.isIdentifier(called) && called.text === 'getBuiltinModule'
}

function namesTaken(parent) {
  if (!ts.isVariableDeclaration(parent) || !ts.isObjectBindingPattern(parent.name)) return ['*']
  return parent.name.elements.map(({ dotDotDotToken, propertyName, name }) =>
    dotDotDotToken ? '*' : (propertyName ?? name).text,
  )
}

/** A name that is used, not one that names a member or something being declared. Types are not uses. */
function isReference(node) {
  const { parent } = node
  if (ts.isPropertyAccessExpression(parent)) return parent.expression === node
  if (ts.isQualifiedName(parent) || ts.isTypeReferenceNode(parent) || ts.isTypeQueryNode(parent)) return false
  if (ts.isImportSpecifier(parent) || ts.isExportSpecifier(parent) || ts.isImportClause(parent)) return false
  return parent.name !== node && parent.propertyName !== node
}

/** `globalThis.setTimeout` is a use of it as well, and so is `const { setTimeout } = globalThis`. */
function isMemberOfGlobal(node) {
  return ts.isPropertyAccessExpression(node) && isGlobal(node.expression)
}

function isTakenFromGlobal(node) {
  return ts.isBindingElement(node) && isGlobal(node.parent.parent.initializer)
}

function isGlobal(node) {
  return node !== undefined && ts.isIdentifier(node) && ['globalThis', 'global'].includes(node.text)
}
