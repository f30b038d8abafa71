// The store that the callers of trace.test.js and their handlers share. The hosts do not load this file.
import { AsyncLocalStorage } from 'node:async_hooks'
import { carry } from 'lido/worker'

export const request = carry(new AsyncLocalStorage(), { name: 'request' })
