// `npx lido init [folder]`: adds a handler, a pool and a test to a project.
import { existsSync, mkdirSync, statSync, writeFileSync } from 'node:fs'
import { join, relative, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { CommandError } from './command-error.js'
import { filesOf } from './init-files.js'
import { quoted, readProject } from './project.js'

export function init(args) {
  const { positionals } = parseArgs({ args, allowPositionals: true, options: {} })
  if (positionals.length > 1) throw new CommandError(`'${positionals[1]}' is one argument too many.`, 2)
  const folder = folderOf(positionals[0])
  const project = readProject(folder)
  const files = filesOf(project)
  const shown = name => relative(process.cwd(), join(folder, name)).replaceAll('\\', '/')
  const taken = files.filter(({ name }) => existsSync(join(folder, name))).map(({ name }) => shown(name))
  if (taken.length > 0)
    throw new CommandError(
      `${listOf(taken)} ${taken.length === 1 ? 'exists' : 'exist'}. Nothing is written. Give another folder: npx lido init src/pool`,
    )
  mkdirSync(folder, { recursive: true })
  for (const { name, text } of files) writeFileSync(join(folder, name), text, { flag: 'wx' })
  const width = Math.max(...files.map(({ name }) => shown(name).length))
  const written = files.map(({ name, purpose }) => `  ${shown(name).padEnd(width)}  ${purpose}`)
  process.stdout.write(`Written for ${project.words}:\n\n${written.join('\n')}\n\n`)
  process.stdout.write(
    nextSteps(
      project,
      files.map(({ name }) => shown(name)),
    ),
  )
}

/** The given folder. Without one, `src` if it exists, and otherwise the working directory. */
function folderOf(given) {
  const folder = resolve(given ?? (isFolder('src') ? 'src' : '.'))
  if (existsSync(folder) && !isFolder(folder)) throw new CommandError(`${given} is no folder.`, 2)
  return folder
}

function isFolder(path) {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() === true
}

function nextSteps(project, [handler, , test]) {
  const steps = []
  if (!project.hasManifest) steps.push(['npm init -y', 'makes a package.json'])
  if (!project.packages.has('lido')) steps.push([project.add('lido'), 'installs lido'])
  const missing = project.missingTools
  if (missing.length > 0) steps.push([project.add('-D', ...missing), 'installs what TypeScript needs'])
  steps.push([project.testCommand(test), 'runs the test'])
  if (project.benchPrefix !== null)
    steps.push([
      `${project.benchPrefix}npx lido bench ${handler} --name countPrimes --payload ${quoted('{"to":50000}')}`,
      '',
    ])
  const width = Math.max(...steps.map(([command, purpose]) => (purpose === '' ? 0 : command.length)))
  const lines = steps.map(([command, purpose]) =>
    purpose === '' ? `  ${command}` : `  ${command.padEnd(width)}   # ${purpose}`,
  )
  const types = project.lacksNodeTypes
    ? 'If tsc does not find the types of Node, add them to compilerOptions in tsconfig.json: "types": ["node"]\n\n'
    : ''
  return `Next:\n\n${lines.join('\n')}\n\n${types}Then write your own function into ${handler}, and call it by its name: pool.api.name(value).\n`
}

function listOf(names) {
  return names.length === 1 ? names[0] : `${names.slice(0, -1).join(', ')} and ${names.at(-1)}`
}
