#!/usr/bin/env node
// `npx lido`: runs the commands of lido. `migrate` is in a package of its own, because it needs a parser, and lido has no dependencies.
import { spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { CommandError } from './command-error.js'
import { commandNames, helpOf, nearest } from './help.js'

const { version } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'))
const major = version.split('.')[0]

// A reader such as `head` may close the pipe early.
process.stdout.on('error', error => {
  if (error.code !== 'EPIPE') throw error
  process.exit()
})

const [command, ...args] = process.argv.slice(2)
/** The commands are loaded only when they run. */
const run = {
  init: async () => (await import('./init.js')).init(args),
  bench: async () => (await import('./bench.js')).bench(args),
  trace: async () => (await import('./trace.js')).trace(args),
  top: async () => (await import('./top.js')).top(args),
  migrate: () => runMigrate(args),
  help: () => showHelp(args[0]),
}

if (command === undefined || command === '--help' || command === '-h') showHelp()
else if (command === '--version' || command === '-v') console.log(version)
else if (!Object.hasOwn(run, command)) refuse(`Unknown command '${command}'.${suggestion(command)}`)
else if (isHelp(args[0])) showHelp(command)
else await runCommand()

async function runCommand() {
  try {
    await run[command]()
  } catch (problem) {
    if (problem.code?.startsWith('ERR_PARSE_ARGS'))
      refuse(`${argumentProblem(problem)}\nSee: npx lido help ${command}`)
    else if (problem instanceof CommandError) fail(problem)
    // The system refused a file or a folder. The message names it.
    else if (problem.syscall !== undefined && problem.path !== undefined)
      fail({ message: problem.message, exitCode: 1 })
    else throw problem
  }
}

/** Node's message about an unknown option ends with advice about positional arguments, which no command needs. */
function argumentProblem({ code, message }) {
  if (code !== 'ERR_PARSE_ARGS_UNKNOWN_OPTION') return message
  const [sentence, option] = /^Unknown option '([^']*)'/.exec(message) ?? [message, '']
  const known = new Set(helpOf(command).match(/--[a-z]+(?:-[a-z]+)*/g))
  const meant = nearest(option, [...known, '--help'])
  return meant === undefined ? `${sentence}.` : `${sentence}. Did you mean '${meant}'?`
}

function isHelp(argument) {
  return argument === '--help' || argument === '-h'
}

function showHelp(name) {
  if (name === undefined || isHelp(name)) process.stdout.write(helpOf(undefined, version))
  else if (commandNames.includes(name)) process.stdout.write(helpOf(name, version))
  else refuse(`Unknown command '${name}'.${suggestion(name)}`)
}

function suggestion(word) {
  const name = nearest(word, commandNames)
  return name === undefined
    ? ` The commands are ${commandNames.join(', ')}.`
    : ` Did you mean '${name}'? See: npx lido help`
}

function refuse(message) {
  process.stderr.write(`${message}\n`)
  process.exitCode = 2
}

function fail({ message, exitCode }) {
  process.stderr.write(`${message}\n`)
  process.exitCode = exitCode
}

function runMigrate(args) {
  const installed = installedMigrate()
  if (installed !== null) return start(installed, args)
  // Installing is the decision of the user: anybody may publish a package of this name in another registry.
  process.stderr.write(
    `The command needs the package lido-migrate, version ${major}, of the authors of lido. Look at it first: npm view lido-migrate repository\nThen install it: npm install --save-dev lido-migrate@${major}\n`,
  )
  process.exitCode = 1
}

/** The program of `lido-migrate` that belongs to this major version, from the project or from beside this package. */
function installedMigrate() {
  for (const from of [pathToFileURL(join(process.cwd(), 'package.json')), import.meta.url]) {
    try {
      const manifest = createRequire(from).resolve('lido-migrate/package.json')
      const { version, bin } = JSON.parse(readFileSync(manifest, 'utf8'))
      if (version.split('.')[0] === major) return join(dirname(manifest), bin)
    } catch (error) {
      if (error.code !== 'MODULE_NOT_FOUND') throw error
    }
  }
  return null
}

function start(file, args) {
  const child = spawn(process.execPath, [file, ...args], { stdio: 'inherit' })
  child.on('error', error => {
    process.stderr.write(`lido-migrate could not be started (${error.message}).\n`)
    process.exitCode = 1
  })
  child.on('exit', code => {
    process.exitCode = code ?? 1
  })
}
