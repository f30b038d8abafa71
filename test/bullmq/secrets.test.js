// No message of lido/bullmq has a password: its errors, their causes, and its warnings, for connections that fail in many ways.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { hasPostgres } from '../helpers/engines.js'
import { runProgram } from '../helpers/program.js'

const secret = 'geh3im/W:rt%@'

/** Runs in a program of its own, because connections that fail may keep it alive. Prints all texts that a log may get. */
const source = `
import { createServer } from 'node:net'
import { inspect } from 'node:util'
import { RemotePool, serve } from '${import.meta.resolve('lido/bullmq')}'

const secret = ${JSON.stringify(secret)}
const escaped = encodeURIComponent(secret)
const key = '-----BEGIN PRIVATE KEY-----\\ngeh3imW0rt\\n-----END PRIVATE KEY-----'
const closing = createServer()
await new Promise(resolve => closing.listen(0, '127.0.0.1', resolve))
const { port } = closing.address()
await new Promise(resolve => closing.close(resolve))

const local = { host: '127.0.0.1', port, password: secret, retryStrategy: () => null, connectTimeout: 500 }
const postgres = [
  \`postgres://user:\${escaped}@127.0.0.1:\${port}/db\`,
  \`postgresql://user:\${escaped}@127.0.0.1:\${port}/db?sslmode=require\`,
  \`postgres://user:\${escaped}@[::1]:\${port}/db\`,
  \`postgres://user:\${escaped}@127.0.0.1:99999/db\`,
  \`postgres://user:\${secret}@127.0.0.1:\${port}/db\`,
  \`postgres//user:\${escaped}@127.0.0.1:\${port}/db\`,
  \`host=127.0.0.1 port=\${port} password=\${secret}\`,
  \`postgres://user:\${escaped}@nowhere.invalid:\${port}/db\`,
  \`postgres://127.0.0.1:\${port}/db?password=\${escaped}&user=u\`,
  { host: '127.0.0.1', port, user: 'u', password: secret },
  { host: '127.0.0.1', port, user: 'u', password: secret, ssl: { key, rejectUnauthorized: false } },
  { host: '127.0.0.1', port: '99999', password: secret },
  { connectionString: \`postgres://user:\${escaped}@127.0.0.1:\${port}/db\` },
  { connectionString: \`postgres//user:\${secret}@127.0.0.1:\${port}/db\` },
  { host: '127.0.0.1', port, user: 'u', password: async () => secret },
]
const redis = [
  local,
  { ...local, username: 'user' },
  { ...local, tls: { key, rejectUnauthorized: false } },
  { ...local, host: 'nowhere.invalid' },
  { ...local, port: 99_999 },
  { ...local, path: '/nowhere/redis.sock' },
  { url: \`redis://user:\${escaped}@127.0.0.1:\${port}\`, retryStrategy: () => null, port },
  {
    sentinels: [{ host: '127.0.0.1', port }],
    name: 'main',
    sentinelPassword: secret,
    password: secret,
    sentinelRetryStrategy: () => null,
    retryStrategy: () => null,
  },
  \`redis://user:\${escaped}@127.0.0.1:\${port}\`,
  \`redis//user:\${secret}@127.0.0.1:\${port}\`,
  \`rediss://:\${escaped}@nowhere.invalid:\${port}/0\`,
]
const wrong = [
  ...(${hasPostgres} ? postgres.map(connection => ({ engine: 'postgres', connection })) : []),
  ...redis.map(connection => ({ engine: 'redis', connection })),
  { engine: \`redis://:\${escaped}@127.0.0.1:\${port}\`, connection: local },
  { engine: \`redis://:\${secret}@127.0.0.1:\${port}\`, connection: local },
  { engine: 'redis', connection: local, prefix: 5 },
]

function print(index, error) {
  console.log(index, String(error), inspect(error, { depth: 10, showHidden: true }), JSON.stringify(error))
  for (let at = error; at instanceof Error; at = at.cause) console.log(at.message, at.stack)
}

const pool = new Pool({ filename: handler('jobs.js'), minWorkers: 0 })
const limit = () => new Promise(resolve => setTimeout(resolve, 2000))
const tries = [
  async (options, told, hasListener) => {
    const remote = new RemotePool('secrets', options)
    if (hasListener) remote.on('error', told)
    await remote.run(1, { deadline: Date.now() + 2000 })
  },
  async (options, told, hasListener) => {
    const host = serve('secrets', pool, options)
    if (hasListener) host.on('error', told)
    await Promise.race([host.ready(), limit()])
    told(await host.health())
  },
]
// Without a listener, errors become warnings.
await Promise.all(
  wrong.flatMap((options, index) => tries.map(use => use(options, error => print(index, error), index % 2 === 0).catch(error => print(index, error)))),
)
console.log('connections', wrong.length)
process.exit()
`

test('errors and warnings of wrong connections do not have the password', async () => {
  const { exitCode, output, errors } = await runProgram(source)
  assert.equal(exitCode, 0, errors)
  assert.match(output, /^connections \d+$/m)
  const forms = [secret, encodeURIComponent(secret), encodeURI(secret), 'geh3im']
  for (const line of `${output}\n${errors}`.split('\n')) {
    for (const form of forms) assert.ok(!line.includes(form), line)
  }
})
