// `scripts/publish.js` in copies of this repository. Nothing is uploaded: a dry run does not upload, and in the last test a program takes
// the place of npm.
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, delimiter, join, relative } from 'node:path'
import { after, describe, test } from 'node:test'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('../../', import.meta.url))
const place = realpathSync(mkdtempSync(join(tmpdir(), 'lido-publish-')))
after(() => rmSync(place, { recursive: true, force: true, maxRetries: 5 }))

const notCopied = ['.git', 'build', 'shared']
const names = [
  'lido',
  'lido-migrate',
  'lido-bundle',
  'lido-as-piscina',
  'lido-as-tinypool',
  'lido-as-workerpool',
]
const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
const repository = 'https://github.com/somebody/lido'
const relativeLink = /\]\((?![a-z]+:|#)[^)]*\)|\b(?:src|href|srcset)="(?![a-z]+:|#)[^"]*"/g

/** A copy of the repository with one commit. `isRelease` makes it a release, as CONTRIBUTING.md says. */
function copyRepository(name, { isRelease }) {
  const folder = join(place, name)
  cpSync(root, folder, { recursive: true, filter: isCopied })
  if (isRelease) {
    edit(folder, 'package.json', text => text.replaceAll('OWNER', 'somebody'))
    edit(folder, 'CHANGELOG.md', text => text.replace(/^(## [\d.]+) \(unreleased\)$/m, '$1 (2027-01-31)'))
    edit(folder, 'README.md', text => `${text}\n${samples}`)
  }
  git(folder, 'init', '--quiet')
  commit(folder)
  if (isRelease) git(folder, 'tag', `v${version}`)
  return folder
}

const samples = `A factor of <!-- figure object -->20<!-- /figure -->.
[![The tests](docs/pictures/lane.svg)](CONTRIBUTING.md#commands), [guides](docs/guides), [map](https://OWNER.github.io/lido/guides/map.html)
and <a href="https://github.com/OWNER/lido/issues">issues</a>.

\`\`\`js
list[0](docs) // [code](stays.md)
\`\`\`
`

function isCopied(path) {
  return basename(path) !== 'node_modules' && !notCopied.includes(relative(root, path))
}

function edit(folder, file, change) {
  const path = join(folder, file)
  writeFileSync(path, change(readFileSync(path, 'utf8')))
}

function git(folder, ...args) {
  const { status, stderr } = spawnSync('git', args, { cwd: folder, encoding: 'utf8' })
  assert.equal(status, 0, `git ${args[0]}: ${stderr}`)
}

function commit(folder) {
  git(folder, 'add', '--all')
  git(folder, '-c', 'user.name=test', '-c', 'user.email=test@example.org', 'commit', '--quiet', '-m', 'test')
}

function publish(folder, flags, env = {}) {
  // An address where nobody listens: an upload by mistake fails.
  const registry = { npm_config_registry: 'http://127.0.0.1:1', npm_config_fetch_retries: '0' }
  return spawnSync(process.execPath, ['scripts/publish.js', '--built', ...flags], {
    cwd: folder,
    env: { ...process.env, ...registry, ...env },
    encoding: 'utf8',
  })
}

describe('a dry run of a release', () => {
  const folder = copyRepository('release', { isRelease: true })
  const { status, stdout, stderr } = publish(folder, ['--dry-run'])
  const staged = (name, file) => readFileSync(join(folder, 'build', 'package', name, file), 'utf8')

  test('the dry run stages all packages without a warning', () => {
    assert.equal(stderr, '')
    assert.equal(status, 0)
    const lines = stdout.trim().split('\n')
    assert.deepEqual(
      lines.map(line => line.split(' ')[0]),
      names,
    )
    for (const line of lines) assert.match(line, /: \d+ files, \d+ kB packed, \d+ kB unpacked, in build/)
  })

  for (const name of names) {
    test(`the README of ${name} has no relative link and no placeholder`, () => {
      const readme = staged(name, 'README.md')
      assert.deepEqual(readme.replaceAll(/^ *```.*?^ *```$/gms, '').match(relativeLink), null)
      assert.doesNotMatch(readme, /OWNER|<!-- \/?figure/)
    })
  }

  test('links lead to the files of the tag, pictures to their bytes, and code stays', () => {
    const at = `${repository}/blob/v${version}`
    const raw = `https://raw.githubusercontent.com/somebody/lido/v${version}`
    const readme = staged('lido', 'README.md')
    for (const expected of [
      'A factor of 20.',
      `[![The tests](${raw}/docs/pictures/lane.svg)](${at}/CONTRIBUTING.md#commands)`,
      `[guides](${repository}/tree/v${version}/docs/guides)`,
      '[map](https://somebody.github.io/lido/guides/map.html)',
      `<a href="${repository}/issues">`,
      'list[0](docs) // [code](stays.md)',
    ])
      assert.ok(readme.includes(expected), expected)
  })

  test('each package.json has the fields of the root, and nothing that only the repository needs', () => {
    const own = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
    for (const name of names) {
      const manifest = JSON.parse(staged(name, 'package.json'))
      for (const field of ['author', 'bugs', 'funding', 'homepage'])
        assert.deepEqual(manifest[field], own[field], `${field} of ${name}`)
      assert.equal(manifest.repository.url, `git+${repository}.git`)
      for (const field of ['allowScripts', 'devDependencies', 'overrides', 'scripts', 'workspaces'])
        assert.equal(manifest[field], undefined, `${field} of ${name}`)
      assert.doesNotMatch(JSON.stringify(manifest.dependencies ?? {}), /file:/)
    }
    const stand = JSON.parse(staged('lido-as-piscina', 'package.json'))
    assert.equal(stand.repository.directory, 'packages/as-piscina')
    assert.equal(stand.dependencies.lido, `>=${version} <${Number(version.split('.')[0]) + 1}`)
  })
})

describe('a repository that is not ready', () => {
  const folder = copyRepository('unready', { isRelease: false })
  edit(folder, 'README.md', text => `${text}\n`)
  const reasons = [
    /The field 'repository' of package\.json still says OWNER\./,
    /The field 'homepage' of package\.json still says OWNER\./,
    /The tree has changes that are not committed\./,
    new RegExp(`does not have the tag v${version.replaceAll('.', '\\.')}`),
    /CHANGELOG\.md has no heading/,
  ]

  test('publish.js names each reason, and stages and uploads nothing', () => {
    const { status, stderr } = publish(folder, [])
    assert.equal(status, 1)
    for (const reason of reasons) assert.match(stderr, reason)
    assert.match(stderr, /Nothing is published\./)
    assert.equal(existsSync(join(folder, 'build')), false)
  })

  test('a dry run warns for each reason, and stages all packages', () => {
    const { status, stdout, stderr } = publish(folder, ['--dry-run'])
    assert.equal(status, 0, stderr)
    for (const reason of reasons) assert.match(stderr, reason)
    assert.equal(stdout.trim().split('\n').length, names.length)
  })
})

test('publish.js uploads lido first, and leaves out a version that npm has', t => {
  if (process.platform === 'win32') return t.skip('the program in place of npm is a shell command')
  const folder = copyRepository('upload', { isRelease: true })
  const bin = join(place, 'bin')
  const log = join(place, 'uploads')
  cpSync(fileURLToPath(new URL('../fixtures/npm.cjs', import.meta.url)), join(bin, 'npm'))
  chmodSync(join(bin, 'npm'), 0o755)
  const { status, stderr } = publish(folder, [], {
    PATH: `${bin}${delimiter}${process.env.PATH}`,
    LIDO_REAL_PATH: process.env.PATH,
    LIDO_UPLOADS: log,
    LIDO_ON_NPM: 'lido-bundle',
  })
  assert.equal(status, 0, stderr)
  const uploads = readFileSync(log, 'utf8')
    .trim()
    .split('\n')
    .map(line => JSON.parse(line))
  assert.deepEqual(
    uploads.map(([, path]) => relative(join(folder, 'build', 'package'), path)),
    names.filter(name => name !== 'lido-bundle'),
  )
  assert.deepEqual(uploads[0].slice(2), ['--provenance', '--access', 'public', '--ignore-scripts'])
})
