// What a call brings along. Each payload tells whose it is, and can be told from any other.
import type { TransferItem } from '../../src/shared/messages/move.js'
import type { Call } from './call.js'
import { UNREADABLE } from './thread.js'

interface Made {
  payload: unknown
  transferList: TransferItem[] | null
}

/** The codec declines it, and to make one is dear. */
const SHARED = new SharedArrayBuffer(1)
const LARGE = 'x'.repeat(5000)

export function makePayload({ id, payload }: Call, onRead: () => void): Made {
  switch (payload) {
    case 'int':
      return { payload: id, transferList: null }
    case 'object':
      return { payload: { id, at: [id] }, transferList: null }
    case 'large':
      return { payload: { id, text: LARGE }, transferList: null }
    case 'declined':
      return { payload: { id, shared: SHARED }, transferList: null }
    case 'transferred': {
      const bytes = new ArrayBuffer(8)
      return { payload: { id, bytes }, transferList: [bytes] }
    }
    case 'uncloneable':
      return { payload: { id, method() {} }, transferList: null }
    case 'unreadable': {
      const bytes = new ArrayBuffer(8)
      return { payload: { id, mark: UNREADABLE, bytes }, transferList: [bytes] }
    }
    case 'getter':
      return { payload: payloadWithGetter(id, onRead), transferList: null }
  }
}

/** It is read more than once: to encode it, to clone it, to find what cannot be cloned. */
function payloadWithGetter(id: number, onRead: () => void): object {
  let wasRead = false
  return {
    id,
    get read() {
      if (!wasRead) {
        wasRead = true
        onRead()
      }
      return 1
    },
  }
}
