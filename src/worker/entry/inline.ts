// An inline worker, which runs on the host's thread. The host cannot kill it. When the host stops it, it
// closes its port. It has stopped when its last handler has finished.
import { threadId } from 'node:worker_threads'
import type { StartOrder } from '../../shared/messages/messages.js'
import { TaskSource } from '../lane/task-source.js'
import { promiseHooks } from '../run/executor.js'
import { WorkerLife } from '../run/life.js'
import { ModuleLoader } from '../run/module-loader.js'

export interface InlineWorker {
  /** Stops accepting tasks. Calls back when the last running handler has finished. */
  end(onQuiet: () => void): void
}

/**
 * @param loadModule returns the pool's option `module`; `null`: not given
 * @param onEnd called when the worker stops by itself because its file did not load
 */
export function serveInline(
  order: StartOrder,
  loadModule: (() => object | Promise<object>) | null,
  onEnd: () => void,
): InlineWorker {
  const { lane, port } = order
  let source: TaskSource | null = null
  let whenQuiet: (() => void) | null = null
  let endExecutor = () => {}
  const life = new WorkerLife(order, {
    ...promiseHooks,
    work: null,
    threadId,
    port,
    makeLoader: (setupTimeoutMs, onTeardown) =>
      new ModuleLoader(false, setupTimeoutMs, onTeardown, loadModule),
    makeSource(executor) {
      source = new TaskSource(port, lane, executor, () => whenQuiet?.())
      return source
    },
    // The output goes directly to the host's streams.
    flush: () => undefined,
    cpuMs: () => null,
    onEnd(callback) {
      endExecutor = callback
    },
    // An uncaught exception here is one of the host, so there is nothing to report.
    onCrash() {},
    end: onEnd,
  })
  void life.start()
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
