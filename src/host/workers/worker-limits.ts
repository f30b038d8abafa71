// How long a worker lives, as the pool's options say.
import { type RestartSettings, restartDefaults } from './restart-policy.js'

export interface LifeSettings {
  readonly maxTasksPerWorker: number
  readonly maxWorkerAge: number
  readonly maxWorkerMemoryMb: number
  readonly teardownTimeout: number
  readonly restart: RestartSettings
}

export const lifeDefaults: LifeSettings = {
  maxTasksPerWorker: Number.POSITIVE_INFINITY,
  maxWorkerAge: Number.POSITIVE_INFINITY,
  maxWorkerMemoryMb: Number.POSITIVE_INFINITY,
  teardownTimeout: 5000,
  restart: restartDefaults,
}
