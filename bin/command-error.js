// Problems that the user can solve. The command prints the message, without a stack.
export class CommandError extends Error {
  /** 1: the work failed. 2: the arguments are wrong. */
  exitCode

  constructor(message, exitCode = 1) {
    super(message)
    this.exitCode = exitCode
  }
}
