// Reads the imports of a source file and the globals that it uses, each with its line.
import ts from 'typescript'

/** The last result for each file. The tests check all files once for each case. */
const results = new Map()

/**
 * `kind` is 'value', 'type' or 'dynamic'. `names` are the imported names; '*' stands for all of them. The specifier is `null`
 * when a dynamic import is not given a plain string.
 */
export function readImports(path, text) {
  if (results.get(path)?.text !== text) results.set(path, { text, found: read(path, text) })
  return results.get(path).found
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
    } else if (isBuiltinRead(node)) {
      add(node, node.arguments[0], 'value', namesRead(node.parent))
    } else if (ts.isIdentifier(node) && isReference(node)) {
      globals.push({ line: lineOf(node), name: node.text })
    } else if (isMemberOfGlobal(node)) {
      globals.push({ line: lineOf(node), name: node.name.text })
    } else if (isReadFromGlobal(node)) {
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

/** `getBuiltinModule('node:os')` counts as an import, with `process.` before it or without. */
function isBuiltinRead(node) {
  if (!ts.isCallExpression(node)) return false
  const called = ts.isPropertyAccessExpression(node.expression) ? node.expression.name : node.expression
  return ts.isIdentifier(called) && called.text === 'getBuiltinModule'
}

function namesRead(parent) {
  if (!ts.isVariableDeclaration(parent) || !ts.isObjectBindingPattern(parent.name)) return ['*']
  return parent.name.elements.map(({ dotDotDotToken, propertyName, name }) =>
    dotDotDotToken ? '*' : (propertyName ?? name).text,
  )
}

/** A use of a variable: not the name of a member, a declaration or a type. */
function isReference(node) {
  const { parent } = node
  if (ts.isPropertyAccessExpression(parent)) return parent.expression === node
  if (ts.isQualifiedName(parent) || ts.isTypeReferenceNode(parent) || ts.isTypeQueryNode(parent)) return false
  if (ts.isImportSpecifier(parent) || ts.isExportSpecifier(parent) || ts.isImportClause(parent)) return false
  return parent.name !== node && parent.propertyName !== node
}

/** `globalThis.setTimeout` and `const { setTimeout } = globalThis` count as uses of the global. */
function isMemberOfGlobal(node) {
  return ts.isPropertyAccessExpression(node) && isGlobal(node.expression)
}

function isReadFromGlobal(node) {
  return ts.isBindingElement(node) && isGlobal(node.parent.parent.initializer)
}

function isGlobal(node) {
  return node !== undefined && ts.isIdentifier(node) && ['globalThis', 'global'].includes(node.text)
}
