// Questions to a worker that are no tasks. The worker answers each one, and once more before it ends.
import type { QuestionListener } from '../../api/figures.js'
import type { WorkerLink } from '../backend/backend.js'

export class WorkerQuestions {
  /** By the file of the function that answers. Each listener gets every answer. */
  readonly #listeners = new Map<string, Set<QuestionListener>>()

  /** @param filename the file of a module whose default export the worker calls */
  ask(link: WorkerLink, filename: string, listener: QuestionListener): void {
    let listeners = this.#listeners.get(filename)
    if (listeners === undefined) {
      listeners = new Set()
      this.#listeners.set(filename, listeners)
    }
    listeners.add(listener)
    link.post({ kind: 'ask', filename })
  }

  onAnswer(filename: string, answer: unknown): void {
    for (const listener of this.#listeners.get(filename) ?? []) listener.onAnswer(answer)
  }

  end(): void {
    const listeners = [...this.#listeners.values()].flatMap(ofFile => [...ofFile])
    this.#listeners.clear()
    for (const listener of listeners) listener.onEnded()
  }
}
