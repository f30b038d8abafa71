// What the tasks of one handler cost.

/** Means over the tasks that were measured, in milliseconds; short ones are measured one in many. */
export interface HandlerStats {
  filename: string
  name: string
  /** Tasks that workers measured. */
  measured: number
  /** From the handler's call to its answer. */
  runMs: number
  /** Of that, the time in which the worker's event loop was not waiting. What reads a file synchronously, or is kept off the cores, is not waiting there. */
  activeMs: number
  /** Of that, the time in which the worker was on a core; `null` where the runtime cannot say (before Node 24). */
  cpuMs: number | null
  /** For reading the payload and writing the answer, in the worker. */
  transferMs: number
  /** For writing the payload, posting the task, reading the answer and settling the promise, on the pool's thread. */
  handOverMs: number
}
