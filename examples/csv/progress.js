// Shows the progress of a way: a bar on a terminal, one plain line elsewhere.
import { SingleBar } from 'cli-progress'
import { paint } from '../shared/report.js'

export class Progress {
  #bar = null

  constructor(title, total) {
    if (process.stdout.isTTY) this.#bar = startBar(title, total)
    else console.log(`${title} ...`)
  }

  update(done) {
    this.#bar?.update(done)
  }

  stop() {
    this.#bar?.stop()
  }
}

function startBar(title, total) {
  const figures = '{percentage}%  {value}/{total} chunks  {duration_formatted}'
  const bar = new SingleBar({
    format: `${title.padEnd(22)} ${paint('green', '{bar}')} ${figures}`,
    barsize: 40,
    barCompleteChar: '█',
    barIncompleteChar: '░',
    hideCursor: true,
  })
  bar.start(total, 0)
  return bar
}
