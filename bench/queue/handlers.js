// The job of rows M1 to M3, as a handler of lido and as a processor of BullMQ's sandbox.
import { burn } from '../work.js'

export const compute = loops => burn(loops)

export default async job => burn(job.data)
