// Keeps what is shown while a way runs: a bar on a terminal, one plain line elsewhere.
import { SingleBar } from 'cli-progress'
import { paint } from '../shared/report.js'

export class Progress {
  #bar = null

  constructor(title, total) {
    if (!process.stdout.isTTY) return void console.log(`${title} ...`)
    const format = `${title.padEnd(32)} ${paint('green', '{bar}')} {percentage}%  {value}/{total} rows  {duration_formatted}`
    this.#bar = new SingleBar({
      format,
      barsize: 30,
      barCompleteChar: '█',
      barIncompleteChar: '░',
      hideCursor: true,
      stopOnComplete: false,
    })
    this.#bar.start(total, 0)
  }

  update(done) {
    this.#bar?.update(done)
  }

  stop(done) {
    this.#bar?.update(done)
    this.#bar?.stop()
  }
}
