// One measured run of the service, in a process of its own or as a cluster. The load on /pi comes from this process. Meanwhile
// /health is requested.
import { loadServer } from '../shared/load.js'

const measured = new URL('../shared/measured-process.js', import.meta.url)

/** `service`: the `program` that build.js made, the `way` of estimating, and the number of `processes`. */
export async function loadService({ program, way, processes }, { points, connections, durationSeconds }) {
  const env = { MEASURED_PROGRAM: program, PI_WAY: way, PI_PROCESSES: String(processes) }
  const load = { path: `/pi?points=${points}`, connections, durationSeconds, asksHealth: true }
  return await loadServer(measured, {}, load, env)
}
