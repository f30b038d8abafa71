// Bars P19 to P21: small tasks in several processes. Each process has a pool of its own, with one worker. All processes load
// their pool, then begin at the same time. The processes of a contestant serve all its turns.
import { Contestant } from '../contestant.js'

const members = []
const spareMs = 20_000 // for the start of a process, on cores that others use

export async function takeTurn({ poolName }, { processes, ...plan }) {
  while (members.length < processes) members.push(new Contestant(poolName, {}))
  const active = members.slice(0, processes)
  const limitMs = plan.warmUpMs + plan.durationMs + spareMs
  const ask = step =>
    Promise.all(
      active.map(member =>
        member.takeTurn({ trialName: 'small-tasks-member', settings: { ...plan, step }, limitMs }),
      ),
    )
  await ask('prepare')
  const figures = await ask('measure')

  const add = read => figures.reduce((sum, figure) => sum + read(figure), 0)
  const rates = figures.map(({ taskCount, elapsedMs }) => (taskCount * 1000) / elapsedMs)
  return {
    tasksPerSecond: rates.reduce((sum, rate) => sum + rate, 0),
    cpuMicrosPerTask: add(({ cpuMicros }) => cpuMicros) / add(({ taskCount }) => taskCount),
    coresUsed: add(({ cpuMicros, elapsedMs }) => cpuMicros / 1000 / elapsedMs),
    hostUtilization: add(({ utilization }) => utilization) / processes,
    leastRateShare: Math.min(...rates) / Math.max(...rates),
  }
}

export async function leave() {
  await Promise.all(members.map(member => member.stop()))
}
