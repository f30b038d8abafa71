// Marks that survive two copies of the package in one process: registry symbols, never `instanceof`.

export function brandOf(name: string): symbol {
  return Symbol.for(`lido.${name}`)
}

export function isBranded(value: unknown, brand: symbol): boolean {
  return value !== null && typeof value === 'object' && (value as Record<symbol, unknown>)[brand] === true
}
