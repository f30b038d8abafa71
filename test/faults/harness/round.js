// Judges some pools, each on some backend, for some faults, several at a time; a heavy scenario has the machine to itself.
import { judge } from './judge.js'

export async function judgeAll({ scenarios, columns, jobs, onVerdict = () => {} }) {
  const results = []
  const turns = scenarios.flatMap(scenario => columns.map(column => ({ scenario, ...column })))
  const take = async ({ scenario, poolName, backend }) => {
    const { verdict, why = null } = await judge(scenario, { poolName, backend })
    const result = { fault: scenario.id, title: scenario.title, poolName, backend, verdict, why }
    results.push(result)
    onVerdict(result, results.length, turns.length)
  }
  const light = turns.filter(({ scenario }) => !scenario.isHeavy)
  const worker = async () => {
    for (let turn = light.shift(); turn !== undefined; turn = light.shift()) await take(turn)
  }
  await Promise.all(Array.from({ length: jobs }, worker))
  for (const turn of turns.filter(({ scenario }) => scenario.isHeavy)) await take(turn)
  return results
}
