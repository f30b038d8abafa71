// Answers questions of the host that are no tasks: calls a function and posts its result. Answers each once more before the worker ends.
import type { HandlerRef } from '../../shared/messages/handler-ref.js'

interface QuestionLoader {
  load(handler: HandlerRef): PromiseLike<unknown>
}

export class Questions {
  readonly #loader: QuestionLoader
  readonly #post: (filename: string, result: unknown) => void
  readonly #asked = new Set<string>()

  constructor(loader: QuestionLoader, post: (filename: string, result: unknown) => void) {
    this.#loader = loader
    this.#post = post
  }

  add(filename: string): void {
    this.#asked.add(filename)
    void this.#answer(filename)
  }

  /** The last answers of a worker that ends. */
  async answerAgain(): Promise<void> {
    await Promise.all([...this.#asked].map(filename => this.#answer(filename)))
  }

  /** A failure must not end the worker. */
  async #answer(filename: string): Promise<void> {
    try {
      const answer = await this.#loader.load({ filename, name: 'default' })
      this.#post(filename, typeof answer === 'function' ? await answer() : undefined)
    } catch {
      this.#post(filename, undefined)
    }
  }
}
