// Symbols of the global registry. All copies of the package in one process share them, unlike classes and `instanceof`.

export function globalSymbol(name: string): symbol {
  return Symbol.for(`lido.${name}`)
}

export function hasGlobalMark(value: unknown, mark: symbol): boolean {
  return value !== null && typeof value === 'object' && (value as Record<symbol, unknown>)[mark] === true
}
