// The window of a stream: how many chunks and bytes the writer may send before the reader has taken them.

export interface StreamWindow {
  readonly chunks: number
  readonly bytes: number
}

/** The size that counts against `highWaterMarkBytes`: bytes of buffers, characters of strings, 0 for other values. */
export function chunkBytes(chunk: unknown): number {
  if (typeof chunk === 'string') return chunk.length
  if (chunk === null || typeof chunk !== 'object') return 0
  const { byteLength } = chunk as { byteLength?: unknown }
  return typeof byteLength === 'number' && byteLength > 0 ? byteLength : 0
}
