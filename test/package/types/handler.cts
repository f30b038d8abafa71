// A handler module in CommonJS: the function itself.

function double(value: number): number {
  return value * 2
}

export = double
