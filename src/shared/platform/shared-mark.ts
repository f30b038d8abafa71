/** The one key of a shared value's handle. Structured clone turns the handle into an object with this key. */
export const SHARED_MARK = 'lido:shared'
