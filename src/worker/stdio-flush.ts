// What a task printed is on its way before its answer is: an ending process then still shows it.

/** A promise when something is still to be written, nothing otherwise. */
export function flushStdio(): Promise<unknown> | undefined {
  const { stdout, stderr } = process
  if (stdout.writableLength === 0 && stderr.writableLength === 0) return undefined
  return Promise.all([written(stdout), written(stderr)])
}

function written(stream: NodeJS.WriteStream): Promise<void> | undefined {
  if (stream.writableLength === 0) return undefined
  return new Promise(resolve => stream.write('', () => resolve()))
}
