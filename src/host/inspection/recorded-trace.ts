// The file of a recording. It is written in pieces, because a long recording has more text than one string should hold.
import type { Trace, TraceDocument, TraceMetadata } from '../../api/trace.js'
import { getFsPromises } from '../../shared/platform/node-modules.js'
import type { Recording } from './recording.js'
import { eventsOf, metadataOf } from './trace-events.js'

const EVENTS_PER_PIECE = 1000

export class RecordedTrace implements Trace {
  readonly #recording: Recording

  constructor(recording: Recording) {
    this.#recording = recording
  }

  get metadata(): TraceMetadata {
    return metadataOf(this.#recording)
  }

  toJSON(): TraceDocument {
    return { traceEvents: [...eventsOf(this.#recording)], metadata: this.metadata }
  }

  /** The text of the file. */
  *pieces(): Generator<string, void, undefined> {
    let lines: string[] = []
    let separator = '{"traceEvents":[\n'
    for (const event of eventsOf(this.#recording)) {
      lines.push(JSON.stringify(event))
      if (lines.length < EVENTS_PER_PIECE) continue
      yield separator + lines.join(',\n')
      separator = ',\n'
      lines = []
    }
    if (lines.length > 0) yield separator + lines.join(',\n')
    yield `\n],"metadata":${JSON.stringify(this.metadata)}}\n`
  }

  async save(path: string | URL): Promise<void> {
    const file = await getFsPromises().open(path, 'w')
    try {
      for (const piece of this.pieces()) await file.write(piece)
    } finally {
      await file.close()
    }
  }
}
