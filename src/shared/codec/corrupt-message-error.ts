// Damaged bytes are our bug or the machine's, never a user's: this error has no place among the public ones.

export class CorruptMessageError extends Error {
  override readonly name = 'CorruptMessageError'

  constructor(what: string) {
    super(`lido: a message in shared memory is damaged: ${what}. Please report this.`)
  }
}
