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

  npx lido migrate [files and folders] [--write]
      changes programs written for piscina, tinypool and workerpool to lido
`

const [command, ...args] = process.argv.slice(2)
if (command === 'migrate') runMigrate(args)
else if (command === undefined || command === '--help' || command === '-h') process.stdout.write(help)
else if (command === '--version') console.log(version)
else {
  process.stderr.write(`Unknown command '${command}'.\n\n${help}`)
  process.exitCode = 2
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
