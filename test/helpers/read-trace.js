// Reads a trace with the engine of Chrome DevTools.

// The engine expects this class of the browser.
globalThis.DOMRect ??= class DOMRect {
  constructor(x, y, width, height) {
    Object.assign(this, { x, y, width, height })
  }

  static fromRect({ x, y, width, height }) {
    return new DOMRect(x, y, width, height)
  }
}

const engine = await import('@paulirish/trace_engine/models/trace/trace.js')

/** @param trace a trace, or the object of a trace file */
export async function readTrace(trace) {
  const document = JSON.parse(JSON.stringify(trace))
  const model = engine.TraceModel.Model.createWithAllHandlers()
  await model.parse(structuredClone(document.traceEvents), {})
  const { data } = model.parsedTrace()
  const threads = engine.Handlers.Threads.threadsInTrace(data).map(({ pid, tid, name }) => ({
    name,
    calls: data.Renderer.processes.get(pid).threads.get(tid).profileCalls,
  }))
  const groups = data.ExtensionTraceData.extensionTrackData.map(({ name, entriesByTrack }) => ({
    name,
    tracks: entriesByTrack,
  }))
  return { events: document.traceEvents, about: document.metadata.lido, threads, groups }
}

/** The slices of tasks in the threads. */
export function taskSlices(events) {
  return events.filter(({ ph, cat }) => ph === 'X' && cat === 'lido')
}
