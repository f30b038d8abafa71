// The payloads of calls. Each payload contains the id of its call.
import type { TransferItem } from '../../src/api/call-options.js'
import type { Call } from './call.js'
import { UNREADABLE } from './thread.js'

interface Made {
  payload: unknown
  transferList: TransferItem[] | null
}

/** The codec declines shared memory. Creating it is slow, so all calls use the same. */
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

/** The host may read the getter several times: to encode the payload, to clone it, or to find the part that cannot be cloned. */
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
