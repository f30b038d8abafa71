// How long the queue keeps the results of the jobs that a caller adds: BullMQ's options `removeOnComplete` and `removeOnFail`.

export interface KeepResults {
  /** Seconds. */
  readonly age: number
  /** Most finished jobs in the queue. */
  readonly count: number
}

/** How many of the kept jobs PostgreSQL reads for each job that finishes, on average. */
const READ_FOR_EACH_JOB = 50

/**
 * The option for one job. PostgreSQL reads all finished jobs of the queue when a job with `count` finishes: with 10,000 kept results that
 * takes longer than all else that it does for the job. So only some jobs have `count` there, chosen by chance, because a program that
 * adds one job and ends would otherwise always or never choose it.
 */
export function keepOptionFor({ age, count }: KeepResults, isPostgres: boolean): Partial<KeepResults> {
  const hasCount = !isPostgres || Math.random() * count < READ_FOR_EACH_JOB
  return hasCount ? { age, count } : { age }
}
