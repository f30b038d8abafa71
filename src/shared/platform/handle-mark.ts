/** The one key of a handle. Structured clone turns the handle into an object with this key. */
export const HANDLE_MARK = 'lido:handle'
