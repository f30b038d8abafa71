// Flags that limit the memory of a whole process. Node ignores them in the environment of a thread, and refuses them in its `execArgv`.

export const HEAP_FLAG = /^--(?:(?:max|min|initial)[-_](?:old[-_]space|semi[-_]space|heap)|stack)[-_]size\b/
export const HEAP_FLAG_REMEDY =
  "Limit threads by 'resourceLimits', for example { maxOldGenerationSizeMb: 300 }, or use backend: 'process'."
