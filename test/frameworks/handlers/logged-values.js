// What the tests log, by a logger of a worker and by a plain one. Both must write the same.
export const workerOptions = {
  redact: ['secret', 'nested.token'],
  serializers: { user: ({ id }) => id },
  mixin: () => ({ mixed: true }),
  msgPrefix: 'app: ',
}

const circular = { name: 'circular' }
circular.self = circular

export function logEverything(log) {
  log.info('hello %s, %d%%', 'you', 100)
  log.info('100% of it')
  log.warn(
    { list: [1, { two: 2 }], nothing: null, missing: undefined, text: 'with "quotes"\nand lines' },
    'fields',
  )
  log.info({ secret: 'a', nested: { token: 'b', kept: 'c' } }, 'redacted')
  log.info({ user: { id: 7, password: 'x' } }, 'serialized')
  log.error(new TypeError('boom', { cause: new Error('deeper') }))
  log.error({ err: new Error('with fields'), code: 5 }, 'failed')
  log.info({ circular })
  log.info({ level: 'own', time: 'own', msg: 'own message' })
  log.info({ date: new Date(0), map: new Map([[1, 2]]), big: 12345678901234567890n, nan: Number.NaN })
  const child = log.child(
    { part: 'a', user: { id: 8 } },
    { serializers: { size: size => size * 2 }, msgPrefix: 'part: ' },
  )
  child.fatal({ size: 21 }, 'from a child')
  child.child({ inner: true }).info('from its child')
}
