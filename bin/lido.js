#!/usr/bin/env node
// `npx lido`: runs the commands of lido. `migrate` is in a package of its own, because it needs a parser, and lido has no dependencies.
import { spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { pathToFileURL } from 'node:url'

const { version } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'))
const major = version.split('.')[0]
const help = `lido ${version}

  npx lido trace app.js [arguments] [--out lido-trace.json] [--seconds N] [--no-cpu]
      runs the program, and records its pools and threads until it ends; options of lido come before app.js
      --seconds N: keeps the last N seconds; --no-cpu: records no CPU profiles
  npx lido trace PID --seconds N [--out lido-trace.json] [--no-cpu]
      records a running program that was started with LIDO_INSPECT=1
  npx lido top [PID] [--once]
      shows queue, workers and handlers of a running program that was started with LIDO_INSPECT=1
      without PID: lists these programs; --once: shows one report and ends
  npx lido migrate [files and folders] [--write]
      changes programs written for piscina, tinypool and workerpool to lido

A trace opens in Chrome DevTools (Performance, Load profile), in https://ui.perfetto.dev and in https://profiler.firefox.com.
`

const [command, ...args] = process.argv.slice(2)
const wantsHelp = command === undefined || command === '--help' || command === '-h'
if (command === 'migrate') runMigrate(args)
else if (wantsHelp) process.stdout.write(help)
else if (command === '--version') console.log(version)
else if (command === 'trace' || command === 'top') await runCommand(command, args)
else refuse(`Unknown command '${command}'.`)

/** The commands are loaded only when they run. */
async function runCommand(name, args) {
  const isHelp = args[0] === '--help' || args[0] === '-h'
  if (isHelp) return process.stdout.write(help)
  const { CommandError } = await import('./connection.js')
  try {
    if (name === 'top') await (await import('./top.js')).top(args)
    else await (await import('./trace.js')).trace(args)
  } catch (problem) {
    if (problem.code?.startsWith('ERR_PARSE_ARGS')) refuse(problem.message)
    else if (problem instanceof CommandError) fail(problem.message)
    else throw problem
  }
}

function refuse(message) {
  process.stderr.write(`${message}\n\n${help}`)
  process.exitCode = 2
}

function fail(message) {
  process.stderr.write(`${message}\n`)
  process.exitCode = 1
}

function runMigrate(args) {
  const installed = installedMigrate()
  if (installed !== null) return run(installed, args)
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

function run(file, args) {
  const child = spawn(process.execPath, [file, ...args], { stdio: 'inherit' })
  child.on('error', error => {
    process.stderr.write(`lido-migrate could not be started (${error.message}).\n`)
    process.exitCode = 1
  })
  child.on('exit', code => {
    process.exitCode = code ?? 1
  })
}
