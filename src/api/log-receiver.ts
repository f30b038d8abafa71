// How the lines that loggers in workers write reach a logger of the host.

/** Takes the lines of loggers in workers. */
export interface LogReceiver {
  /** Lines below this level are not needed. The numbers are those of pino: `info` is 30. */
  readonly level: number
  /** @param line without a newline at its end */
  write(level: number, line: string): void
}
