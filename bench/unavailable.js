// Thrown by a pool that this build does not support. The report says "not available", and the run does not fail.
export class UnavailableError extends Error {
  isUnavailable = true
}
