// What a worker died of, from what it said and what the runtime told.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ErrorClasses } from '../../shared/errors/error-classes.js'
import { OwnFileError } from '../../shared/errors/own-file-error.js'
import { pack } from '../../shared/errors/remote-error.js'
import { LastWords } from './last-words.js'

const memory = Object.assign(new Error('heap'), { code: 'ERR_WORKER_OUT_OF_MEMORY' })

function lastWords(): LastWords {
  return new LastWords(1, { filename: '/handler.js', name: 'default' }, new ErrorClasses([]))
}

test('what a worker said of its crash counts, but for a heap limit, of which only the runtime knows', () => {
  for (const [told, expected] of [
    [new Error('told'), 'said'],
    [undefined, 'said'],
    [memory, 'ERR_WORKER_OUT_OF_MEMORY'],
  ] as const) {
    const words = lastWords()
    words.onCrashed(pack(new Error('said')))
    words.onExit(1, told, null)
    const cause = words.cause(true) as NodeJS.ErrnoException
    assert.equal(cause.code ?? cause.message, expected)
  }
})

test('an end by a signal to the whole group says nothing of a file, unless that is known not to load', () => {
  const interrupted = lastWords()
  interrupted.onExit(130, undefined, 'SIGINT')
  const failed = lastWords()
  failed.onStartFailed(pack(new SyntaxError('why')))
  failed.onExit(130, undefined, 'SIGINT')
  const killed = lastWords()
  killed.onExit(137, undefined, 'SIGKILL')
  assert.deepEqual(
    [interrupted, failed, killed].map(({ wasInterrupted }) => wasInterrupted),
    [true, false, false],
  )
})

test('an end that was asked for went wrong when the process crashed, not when it was killed', () => {
  const troubleAt = (signal: NodeJS.Signals | null) => {
    const words = lastWords()
    words.onExit(1, undefined, signal)
    return (words.trouble as { code: string } | undefined)?.code
  }
  assert.deepEqual(
    [troubleAt('SIGSEGV'), troubleAt('SIGKILL'), troubleAt(null)],
    ['ERR_LIDO_WORKER_EXIT', undefined, undefined],
  )
})

test('a worker whose own first file is not there did not start as a thread; else its file did not load', () => {
  const stageOf = (told: unknown) => {
    const words = lastWords()
    words.onExit(1, told, null)
    return words.startError(words.cause(false)).stage
  }
  const unstarted = Object.assign(new Error('refused'), { code: 'ERR_WORKER_INIT_FAILED' })
  assert.deepEqual([new OwnFileError('/entry.cjs'), unstarted, new Error('why')].map(stageOf), [
    'thread',
    'thread',
    'load',
  ])
})
