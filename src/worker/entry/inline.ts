// The entry of an inline worker, which runs on its host's thread. Nothing can kill it. When it is told to end it closes its port,
// and it has ended when its last handler has ended.
import type { StartOrder } from '../../shared/messages/messages.js'
import { TaskSource } from '../lane/task-source.js'
import { serve } from '../run/serve.js'

export interface InlineWorker {
  /** The worker accepts no more tasks. Calls back when the last running handler has ended. */
  end(onQuiet: () => void): void
}

/** @param onEnd the worker ended by itself: its file did not load */
export function serveInline(order: StartOrder, onEnd: () => void): InlineWorker {
  const { lane, port } = order
  let source: TaskSource | null = null
  let whenQuiet: (() => void) | null = null
  let endExecutor = () => {}
  void serve(order, {
    ownsThread: false,
    port,
    makeSource(executor) {
      source = new TaskSource(port, lane, executor, () => whenQuiet?.())
      return source
    },
    // The output is the host's own.
    flush: () => undefined,
    onEnd(callback) {
      endExecutor = callback
    },
    // A crash of this worker is a crash of the host.
    onCrash() {},
    end: onEnd,
  })
  port.unref()
  return {
    end(onQuiet) {
      source?.close()
      port.close()
      whenQuiet = () => {
        endExecutor()
        onQuiet()
      }
      if (source === null || !source.isBusy) whenQuiet()
    },
  }
}
