// Publishes lido and the packages of `packages/`. A workflow runs it for each tag: .github/workflows/publish.yml.
//   node scripts/publish.js             checks, builds, stages and uploads
//   node scripts/publish.js --dry-run   uploads nothing, and only warns where a check fails. Needs no network.
//   --built                             uses dist/ without building it
//
// package.json of the root is the one place for the address of the repository, the site and the author. Texts of the repository have
// placeholders. This script fills them in, in a copy of the files that npm would pack: build/package/<name>.
import { spawnSync } from 'node:child_process'
import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join, posix, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'

/** Where texts of the repository lead until somebody owns it. */
const placeholders = { repository: 'https://github.com/OWNER/lido', site: 'https://OWNER.github.io/lido/' }
/** The fields of package.json that every published package shares. */
const shared = ['author', 'funding', 'homepage', 'bugs']
/** The fields that only a clone of the repository needs. */
const onlyInRepository = ['allowScripts', 'devDependencies', 'overrides', 'scripts', 'workspaces']
/** A package must be published before the packages that depend on it. */
const folders = [
  '.',
  'packages/migrate',
  'packages/bundle',
  'packages/as-piscina',
  'packages/as-tinypool',
  'packages/as-workerpool',
]

const root = dirname(dirname(fileURLToPath(import.meta.url)))
const isWindows = process.platform === 'win32'
const { 'dry-run': isDry, built: isBuilt } = parseArgs({
  options: { 'dry-run': { type: 'boolean' }, built: { type: 'boolean' } },
}).values
const manifest = readManifest('.')
const tag = `v${manifest.version}`
const addresses = {
  repository: manifest.repository.url.replace(/^git\+/, '').replace(/\.git$/, ''),
  site: manifest.homepage.replace(/\/*$/, '/'),
}

const problems = [...problemsOfFields(), ...problemsOfTree(), ...problemsOfChangelog()]
stopAt(problems)
if (!isBuilt) run(process.execPath, ['scripts/build.js'])
rmSync(join(root, 'build', 'package'), { recursive: true, force: true })
const filesOf = packed(folders.map(folder => (folder === '.' ? '.' : `./${folder}`)))
const staged = folders.map(stage)
stopAt(staged.flatMap(problemsOfTexts))
if (isDry) describe()
else for (const { name, version, folder } of staged) upload(name, version, folder)

/** In a dry run the problems are warnings. */
function stopAt(found) {
  for (const problem of found) console.error(`${isDry ? 'warning' : 'problem'}: ${problem}`)
  if (found.length === 0 || isDry) return
  console.error('Nothing is published.')
  process.exit(1)
}

function problemsOfFields() {
  return ['repository', ...shared].flatMap(field => {
    const text = JSON.stringify(manifest[field])
    if (text === undefined) return [`package.json has no field '${field}'.`]
    return text.includes('OWNER') ? [`The field '${field}' of package.json still says OWNER.`] : []
  })
}

function problemsOfTree() {
  const found = []
  if (git('status', '--porcelain') !== '') found.push('The tree has changes that are not committed.')
  if (!git('tag', '--points-at', 'HEAD').split('\n').includes(tag))
    found.push(`The commit does not have the tag ${tag}, the version of package.json.`)
  return found
}

function problemsOfChangelog() {
  const heading = new RegExp(`^## ${manifest.version.replaceAll('.', '\\.')}(?! *\\(unreleased\\))\\b`, 'm')
  return heading.test(readFileSync(join(root, 'CHANGELOG.md'), 'utf8'))
    ? []
    : [`CHANGELOG.md has no heading '## ${manifest.version}' with a date.`]
}

/** Copies the files that npm would pack, and fills in what they leave open. */
function stage(folder) {
  const own = readManifest(folder)
  const target = join(root, 'build', 'package', own.name)
  for (const { path } of filesOf.get(own.name).files) {
    const file = join(target, path)
    mkdirSync(dirname(file), { recursive: true })
    cpSync(join(root, folder, path), file)
    if (!/\.(md|[cm]?js|d\.[cm]?ts)$/.test(path)) continue
    const text = readFileSync(file, 'utf8')
    const links = path.endsWith('.md') ? withAbsoluteLinks(text, posix.join(folder, path)) : text
    const filled = withAddresses(links)
    if (filled !== text) writeFileSync(file, filled)
  }
  writeFileSync(join(target, 'package.json'), `${JSON.stringify(publishedManifest(own, folder), null, 2)}\n`)
  return { name: own.name, version: own.version, folder: target }
}

/** For each name of a package, what npm would pack. One call of npm takes less time than six. */
function packed(paths) {
  const output = run(...npm('pack', ...paths, '--dry-run', '--json', '--ignore-scripts'))
  return new Map(Object.values(JSON.parse(output)).map(found => [found.name, found]))
}

function publishedManifest(own, folder) {
  const published = { ...own, ...Object.fromEntries(shared.map(field => [field, manifest[field]])) }
  published.repository = folder === '.' ? manifest.repository : { ...manifest.repository, directory: folder }
  for (const field of onlyInRepository) delete published[field]
  if (published.dependencies?.lido !== undefined) {
    // These packages change less often than lido, and work with every version of the same major number.
    const next = Number(manifest.version.split('.')[0]) + 1
    published.dependencies = { ...published.dependencies, lido: `>=${manifest.version} <${next}` }
  }
  return published
}

/** npm shows a page without the other files of the repository, so each link must be an address. */
function withAbsoluteLinks(text, file) {
  const page = path => addressOf(file, path)
  const picture = path =>
    page(path).replace(/^https:\/\/github\.com\/(.+?)\/blob\//, 'https://raw.githubusercontent.com/$1/')
  const parts = text.replaceAll(/<!-- \/?figure\b.*?-->/g, '').split(/(^ *```.*?^ *```$)/gms)
  return parts
    .map((part, index) => {
      const isCode = index % 2 === 1
      if (isCode) return part
      return part
        .replaceAll(/(!\[[^\]]*\]\()(?![a-z][a-z+.-]*:|#)([^)\s]+)/g, (_, open, path) => open + picture(path))
        .replaceAll(/(\]\()(?![a-z][a-z+.-]*:|#)([^)\s]+)/g, (_, open, path) => open + page(path))
        .replaceAll(
          /(\b(?:src|srcset)=")(?![a-z][a-z+.-]*:)([^"\s]+)/g,
          (_, open, path) => open + picture(path),
        )
        .replaceAll(/(\bhref=")(?![a-z][a-z+.-]*:|#)([^"\s]+)/g, (_, open, path) => open + page(path))
    })
    .join('')
}

/** The address of a file or a folder in the repository, at the tag of this version. */
function addressOf(file, link) {
  const [, path, anchor] = /^([^#]*)(#.*)?$/.exec(link)
  const target = posix.join(posix.dirname(file), path).replace(/\/$/, '')
  if (!existsSync(join(root, target))) throw new Error(`${file} links to ${link}, which does not exist.`)
  const kind = statSync(join(root, target)).isDirectory() ? 'tree' : 'blob'
  return `${addresses.repository}/${kind}/${tag}/${target}${anchor ?? ''}`
}

function withAddresses(text) {
  return text
    .replaceAll(placeholders.repository, addresses.repository)
    .replaceAll(placeholders.site, addresses.site)
}

function problemsOfTexts({ name, folder }) {
  const paths = readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter(entry => entry.isFile())
    .map(entry => join(entry.parentPath, entry.name))
    .filter(path => /\bOWNER(?:\/|\.github\.io)/.test(readFileSync(path, 'utf8')))
  if (paths.length === 0) return []
  return [`${name}: OWNER is left in ${paths.length} of its files, such as ${relative(folder, paths[0])}.`]
}

function describe() {
  const kilobytes = bytes => `${Math.ceil(bytes / 1000)} kB`
  const contents = packed(staged.map(({ folder }) => folder))
  for (const { name, version, folder } of staged) {
    const { entryCount, size, unpackedSize } = contents.get(name)
    console.log(
      `${name} ${version}: ${entryCount} files, ${kilobytes(size)} packed, ${kilobytes(unpackedSize)} unpacked, in ${relative(root, folder)}`,
    )
  }
}

function upload(name, version, folder) {
  if (isPublished(name, version)) return console.log(`${name} ${version} is published already.`)
  // Without the environment of a workflow, npm refuses the flag for the provenance.
  const flags = ['--provenance', '--access', 'public', '--ignore-scripts']
  run(...npm('publish', folder, ...flags), { stdio: 'inherit' })
}

/** A publication that failed in the middle goes on where it stopped. Some packages do not change with every version of lido. */
function isPublished(name, version) {
  const [command, args] = npm('view', `${name}@${version}`, 'version', '--json')
  const { status, stdout, stderr } = spawnSync(command, args, {
    cwd: root,
    encoding: 'utf8',
    shell: isWindows,
  })
  if (status === 0) return stdout.trim() !== ''
  if (/E404/.test(stdout + stderr)) return false
  throw new Error(`npm view ${name} failed: ${stderr}`)
}

function readManifest(folder) {
  return JSON.parse(readFileSync(join(root, folder, 'package.json'), 'utf8'))
}

function git(...args) {
  return run('git', args).trim()
}

function npm(...args) {
  return [isWindows ? 'npm.cmd' : 'npm', args, { shell: isWindows }]
}

function run(command, args, ...options) {
  const settings = Object.assign({ cwd: root, encoding: 'utf8', maxBuffer: 2 ** 26 }, ...options)
  const { status, stdout, stderr, error } = spawnSync(command, args, settings)
  if (status === 0) return stdout
  throw new Error(`${command} ${args.join(' ')} failed. ${stderr ?? ''}`, { cause: error })
}
