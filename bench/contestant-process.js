// The child process of one contestant. The first argument names the pool. Each message asks for one turn of a trial.
// tournament.js decides the order of the turns. The files in trials/ measure.
import { roster } from './roster.js'

const poolName = process.argv[2]
const { adapter, packageName, settings } = roster[poolName]

const contestant = {
  poolName,
  packageName,
  /** Loads all modules. The returned function starts the pool. */
  async prepare() {
    const { start } = await import(`./pools/${adapter}.js`)
    return options => start({ ...options, settings })
  },
  async start(options) {
    return (await this.prepare())(options)
  },
}

const trials = new Map()

async function takeTurn({ trialName, settings: turnSettings }) {
  const trial = await import(`./trials/${trialName}.js`)
  trials.set(trialName, trial)
  return trial.takeTurn(contestant, turnSettings)
}

async function answerTurn(message) {
  try {
    process.send({ kind: 'result', figures: await takeTurn(message) })
  } catch (error) {
    process.send({
      kind: error?.isUnavailable ? 'unavailable' : 'failed',
      message: String(error?.message ?? error),
    })
  }
}

// A trial that keeps its pool between turns exports `leave`. All other pools stop with the process, because some pools
// hang when they are asked to stop.
async function stop() {
  for (const trial of trials.values()) await trial.leave?.()
  process.exit()
}

process.on('message', message => (message.kind === 'turn' ? answerTurn(message) : stop()))
process.on('disconnect', () => process.exit())
