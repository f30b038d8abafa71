// A worker that lives on its host's own thread. It cannot be killed: told to end, it closes its port, and what it runs ends
// when it ends.

import type { StartOrder } from '../shared/messages/messages.js'
import { invariant } from '../shared/platform/invariant.js'
import { PortIntake } from './port-intake.js'
import { serve } from './serve.js'
import { SharedSlotBook, type SlotBook } from './slot-book.js'

export interface InlineWorker {
  /** Takes nothing more. Calls back when the last handler that runs has ended. */
  end(onQuiet: () => void): void
}

/** @param onEnd the worker ends by itself: its file did not load */
export function serveInline(order: StartOrder, onEnd: () => void): InlineWorker {
  const { port, road } = order
  invariant(road.kind === 'port', 'inline tasks come by a port')
  let intake: PortIntake | null = null
  let whenQuiet: (() => void) | null = null
  let letGo = () => {}
  let isEnding = false
  const shared = new SharedSlotBook(road)
  const book: SlotBook = {
    claim: (slot, taskId) => !isEnding && shared.claim(slot, taskId),
    markLoading: (slot, isLoading) => shared.markLoading(slot, isLoading),
    holdTime: slot => shared.holdTime(slot),
    isCancelled: (slot, taskId) => shared.isCancelled(slot, taskId),
    canBeTakenBack: () => shared.canBeTakenBack(),
    maySpin: () => false,
    postCount: () => 0,
  }
  void serve(order, {
    isThreadsOwn: false,
    port,
    makeIntake(executor) {
      intake = new PortIntake(port, book, executor, () => whenQuiet?.())
      return intake
    },
    // The host prints for itself.
    flush: () => undefined,
    onEnd(callback) {
      letGo = callback
    },
    // It ends of nothing that would not end the host.
    onCrash() {},
    end: onEnd,
  })
  port.unref()
  return {
    end(onQuiet) {
      isEnding = true
      intake?.close()
      port.close()
      whenQuiet = () => {
        letGo()
        onQuiet()
      }
      if (intake === null || !intake.isBusy) whenQuiet()
    },
  }
}
