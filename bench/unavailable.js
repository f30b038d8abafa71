// What somebody throws who cannot play here at all. It is reported as "not available" and fails nothing.
export class UnavailableError extends Error {
  isUnavailable = true
}
