// The process of one contestant, whom its first argument names: takes a turn of a trial whenever told to. Leaves who plays
// when to tournament.js, and what is measured to trials/.
import { roster } from './roster.js'

const poolName = process.argv[2]
const { adapter, packageName, settings } = roster[poolName]

const contestant = {
  poolName,
  packageName,
  /** Loads everything; the pool itself begins when what this gives is called. */
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

// Only a trial whose pool is to take further turns says how it ends. The others' pools end with the process: some do not
// end well when asked.
async function stop() {
  for (const trial of trials.values()) await trial.leave?.()
  process.exit()
}

process.on('message', message => (message.kind === 'turn' ? answerTurn(message) : stop()))
process.on('disconnect', () => process.exit())
