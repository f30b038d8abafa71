#!/usr/bin/env node
// `lido-migrate`: shows the changes of a program that moves to lido, and writes them if told to.
import { isUtf8 } from 'node:buffer'
import { accessSync, constants, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { parseArgs } from 'node:util'
import { createTwoFilesPatch } from 'diff'
import { confirm } from './src/confirm.js'
import { migrateAll } from './src/migrate.js'
import { createProgress } from './src/progress.js'

const help = `Changes programs written for piscina, tinypool and workerpool to lido.

  npx lido migrate [files and folders] [--write]

Without --write it shows the changes, and asks before it writes them.
Without a terminal it only shows them.

A file that needs decisions gets only another import, such as lido/piscina, and
a comment TODO(lido) at each place to decide. It works as before. Decide the
places, and run the command again.
`
const extensions = /\.[cm]?[jt]sx?$/
const skipped = new Set(['node_modules', 'dist', 'build', 'coverage', 'out'])

try {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: { write: { type: 'boolean' }, help: { type: 'boolean', short: 'h' } },
  })
  if (values.help) process.stdout.write(help)
  else await main(positionals.length > 0 ? positionals : ['.'], values.write)
} catch (error) {
  if (!/^(ENOENT|EACCES|ERR_PARSE_ARGS)/.test(error.code)) throw error
  process.stderr.write(`${error.message}\nSee: npx lido migrate --help\n`)
  process.exitCode = 2
}

async function main(paths, isWriting) {
  const files = paths.flatMap(filesIn)
  const progress = createProgress(files.length, 'Reading files', process.stderr)
  const results = migrateAll(
    files.map(path => ({ path: relative('', path).replaceAll('\\', '/'), ...contentOf(path) })),
    done => progress.show(done),
  )
  progress.end()
  const changed = results.filter(({ code, text }) => code !== null && code !== text)
  for (const { path, text, code } of changed) console.log(patch(path, text, code))
  report('Check these places', results, 'notes')
  report(
    'Only the import changes. A comment TODO(lido) marks each place to decide',
    results.filter(({ isPartial }) => isPartial),
    'refusals',
  )
  report(
    'Not changed',
    results.filter(({ code }) => code === null),
    'refusals',
  )
  report('Other places that name a library', results, 'mentions')
  const used = results.filter(({ library }) => library !== '')
  if (used.length === 0) {
    console.log(`No file uses piscina, tinypool or workerpool (${files.length} files read).`)
    return
  }
  printAdvice(used)
  if (changed.length === 0) console.log('No file to change.')
  else if (isWriting || (await confirm(`Change ${countOf(changed)}?`, process.stdin, process.stdout))) {
    for (const { path, code } of changed) writeFileSync(path, code)
    console.log(`Changed ${countOf(changed)}.`)
    const partial = changed.filter(({ isPartial }) => isPartial)
    if (partial.length > 0)
      console.log(
        `${countOf(partial)} ${partial.length === 1 ? 'has' : 'have'} comments TODO(lido). Decide these places, then run the command again.`,
      )
  } else console.log(`Nothing is written. Add --write to change ${countOf(changed)}.`)
}

/** The text of a file, and the reason why the command cannot write it, if there is one. */
function contentOf(path) {
  const bytes = readFileSync(path)
  const content = { text: bytes.toString('utf8') }
  if (!isUtf8(bytes)) return { ...content, problem: 'The file is no UTF-8 text.' }
  try {
    accessSync(path, constants.W_OK)
    return content
  } catch {
    return { ...content, problem: 'The file is not writable.' }
  }
}

function patch(path, text, code) {
  return createTwoFilesPatch(path, path, text, code).split('\n').slice(2).join('\n')
}

function countOf(files) {
  return files.length === 1 ? '1 file' : `${files.length} files`
}

function filesIn(path) {
  if (!statSync(path).isDirectory()) return [path]
  return readdirSync(path, { withFileTypes: true })
    .filter(({ name }) => !skipped.has(name) && !name.startsWith('.'))
    .flatMap(entry => {
      const inner = join(path, entry.name)
      if (entry.isDirectory()) return filesIn(inner)
      return entry.isFile() && extensions.test(entry.name) && !/\.d\.[cm]?ts$/.test(entry.name) ? [inner] : []
    })
}

function report(title, results, kind) {
  const lines = results.flatMap(({ path, [kind]: places }) =>
    places.map(({ line, text }) => `  ${path}:${line}: ${text}`),
  )
  if (lines.length > 0) console.log(`${title}:\n${lines.join('\n')}\n`)
}

function printAdvice(results) {
  const namesOf = list => [...new Set(list.flatMap(({ library }) => library.split(', ')))]
  for (const name of namesOf(results.filter(({ code }) => code === null))) {
    console.log(
      `In the files that stay, import 'lido/${name}' in place of '${name}'. Nothing else needs to change.`,
    )
  }
  const names = namesOf(results).join(' ')
  console.log(`Install lido: npm install lido. When no file uses it any more: npm uninstall ${names}.\n`)
}
