// Errors that only a bug of lido can cause.

export function invariant(holds: boolean, whatMustHold: string): asserts holds {
  if (!holds) throw new Error(`lido: internal invariant broken: ${whatMustHold}. Please report this.`)
}

export function unreachable(value: never): never {
  throw new Error(`lido: unexpected ${JSON.stringify(value)}. Please report this.`)
}
