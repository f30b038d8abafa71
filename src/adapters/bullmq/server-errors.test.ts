import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { EngineError } from './remote-errors.js'
import { isInterruption, troubleOf } from './server-errors.js'

describe('errors of servers', () => {
  const codes = (text: string) => text.split(' ').map(code => Object.assign(new Error('failed'), { code }))
  const messages = (texts: string[]) => texts.map(message => new Error(message))
  for (const [title, errors, kind, state] of [
    [
      'a full memory',
      [...codes('53200'), ...messages(["OOM command not allowed when used memory > 'maxmemory'."])],
      'refusal',
      'out of memory',
    ],
    ['a full disk', codes('53100'), 'refusal', 'disk'],
    [
      'a read-only server',
      [
        ...codes('25006'),
        ...messages([
          "READONLY You can't write against a read only replica.",
          "ERR Error running script: @user_script:22: -READONLY You can't write against a read only replica.",
        ]),
      ],
      'interruption',
      'read-only',
    ],
    [
      'a server without free connections',
      [...codes('53300'), ...messages(['ERR max number of clients reached'])],
      'interruption',
      'no more connections',
    ],
    [
      'a server that starts or stops',
      [...codes('57P01 57P02 57P03'), ...messages(['LOADING Redis is loading'])],
      'interruption',
      'starts or stops',
    ],
    [
      'a cluster that is not complete',
      messages([
        'MASTERDOWN Link with MASTER is down',
        'CLUSTERDOWN The cluster is down',
        'TRYAGAIN Multiple keys',
        'NOREPLICAS Not enough good replicas',
      ]),
      'interruption',
      'other servers',
    ],
    [
      'a silent server',
      [
        ...codes('ETIMEDOUT'),
        ...messages([
          "Socket timeout. Expecting data, but didn't receive any in 13000ms.",
          'Query read timeout',
          'timeout expired',
        ]),
      ],
      'interruption',
      'does not answer',
    ],
    [
      'a server that cannot be reached',
      [
        ...codes('ECONNREFUSED ECONNRESET EPIPE ENOTFOUND 08006'),
        ...messages(['Connection terminated unexpectedly', 'Connection is closed.']),
      ],
      'interruption',
      'cannot be reached',
    ],
  ] as const) {
    test(`an EngineError names ${title}`, () => {
      for (const error of errors) {
        assert.equal(isInterruption(error), kind === 'interruption', error.message)
        assert.equal(troubleOf(error)?.kind, kind)
        const { message } = new EngineError('q', 'redis://user:pa55word@host:6379/0', error)
        assert.ok(message.includes(state), message)
        assert.ok(!message.includes('pa55word'))
      }
    })
  }

  test('a wrong password and a missing table are no states of the server', () => {
    for (const error of [
      ...codes('28P01 42P01'),
      ...messages(['WRONGPASS invalid username-password pair']),
    ]) {
      assert.equal(troubleOf(error), null)
    }
  })
})
