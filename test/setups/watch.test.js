// Programs under `node --watch`, `tsx watch` and nodemon. A changed handler, and a changed file that the handler imports, restarts the program.
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { before } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { endGroup, install, nodeOf, versionOf } from './project.js'
import { heavyRow, row } from './row.js'

const program = (file, options = '') => `import { Pool } from 'lido'
const pool = new Pool({ module: () => import('${file}'), base: import.meta.url, maxWorkers: 1${options} })
pool.on('message', message => console.log('unexpected:', message))
console.log('answer:', await pool.run(1))
setInterval(() => {}, 1000)
`

let project
before(async () => {
  project = await install('watch', ['tsx', 'nodemon'], { type: 'module' })
  project.write({
    'thread.js': program('./work.js'),
    'process.js': program('./work.js', ", backend: 'process'"),
    'thread.ts': program('./typed.js'),
  })
})

/** The two files of a handler. Their texts are part of its answer. */
const sources = (work, imported) => ({
  'work.js': `import { text } from './imported.js'\nexport default () => '${work} ' + text\n`,
  'imported.js': `export const text = '${imported}'\n`,
  'typed.ts': `import { text } from './typed-import.js'\nexport default (): string => '${work} ' + text\n`,
  'typed-import.ts': `export const text: string = '${imported}'\n`,
})

/** Runs a command that watches files. Changes first the handler, then the file that it imports. */
async function restarts(command, ...args) {
  project.write(sources('first', 'first'))
  const child = spawn(command, args, {
    cwd: project.folder,
    // tsx restarts its program when it reads from its input.
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
  })
  let printed = ''
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', text => {
      printed += text
    })
  // A program that never answers must not outlive its test.
  const limit = setTimeout(() => endGroup(child), 50_000)
  const hasEnded = () => child.exitCode !== null || child.signalCode !== null
  /** A watcher may miss a change that comes before it watches the file. So this writes again, each time after a longer pause. */
  const answersAfter = async (work, imported) => {
    const answer = `answer: ${work} ${imported}`
    for (let turn = 0, nextWrite = 0; !printed.includes(answer); turn++) {
      assert.ok(!hasEnded(), printed)
      if (turn === nextWrite) {
        project.write(sources(work, imported))
        nextWrite = Math.max(100, turn * 2)
      }
      await delay(50)
    }
  }
  try {
    await answersAfter('first', 'first')
    await answersAfter('second', 'first')
    await answersAfter('second', 'second')
    assert.doesNotMatch(printed, /unexpected:/)
  } finally {
    clearTimeout(limit)
    endGroup(child)
  }
}

const watching = async node => {
  await restarts(node, '--watch', 'thread.js')
  await restarts(node, '--watch', 'process.js')
  return await versionOf(node)
}

row('node --watch', 'restarts when the handler or its import changes', 'nothing', () =>
  watching(process.execPath),
)

row('tsx watch', 'restarts when the handler or its import changes', 'nothing', async () => {
  await restarts(process.execPath, project.binary('tsx'), 'watch', 'thread.ts')
  return project.versions('tsx')
})

row('nodemon', 'restarts when the handler or its import changes', 'nothing', async () => {
  await restarts(process.execPath, project.binary('nodemon'), 'thread.js')
  return project.versions('nodemon')
})

for (const version of [22, 24, 26])
  heavyRow(
    `node --watch, Node ${version}`,
    'restarts when the handler or its import changes',
    'nothing',
    async () => watching(await nodeOf(version)),
  )
