// Checks the project's prose: the length of sentences, table cells and lines, test titles, and forbidden phrases.
//   node scripts/lint-prose.js
// Every finding is one line with the file, the line and what to do. The exit code is 1 if there is one.
import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parse } from '@textlint/markdown-to-ast'
import { splitAST } from 'sentence-splitter'
import { forbiddenPhrases } from './forbidden-phrases.js'

const root = fileURLToPath(new URL('..', import.meta.url))
const limits = { sentenceWords: 30, cellWords: 15, lineCharacters: 160 }
/** Generated tables, foreign texts, and the list of phrases itself. */
const excluded = ['bench/results/', 'package-lock.json', 'LICENSE', 'scripts/forbidden-phrases.js']
const forbiddenFirstWords = /^(what|who|whose|of|one|it|its|that|those)\b/i

const findings = []
const files = execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard'], { cwd: root })
  .toString()
  .split('\n')
  .filter(file => file !== '' && !excluded.some(prefix => file.startsWith(prefix)))
  .filter(file => existsSync(join(root, file)))

for (const file of files) {
  const text = readFileSync(join(root, file), 'utf8')
  if (text.includes('\0')) continue
  checkPhrases(file, text)
  if (file.endsWith('.md')) checkMarkdown(file, text)
  if (/\.test\.[cm]?[jt]s$/.test(file)) checkTitles(file, text)
}
for (const { file, line, problem } of findings) console.log(`${file}:${line}: ${problem}`)
console.log(`prose: ${files.length} files, ${findings.length} findings`)
process.exitCode = findings.length === 0 ? 0 : 1

function report(file, line, problem) {
  findings.push({ file, line, problem })
}

function checkMarkdown(file, text) {
  const lines = text.split('\n')
  visit(parse(text), node => {
    if (node.type === 'TableCell') {
      const words = wordsOf(node)
      if (words.length > limits.cellWords) {
        report(file, node.loc.start.line, tooLong('cell', words, limits.cellWords))
      }
    }
    if (node.type !== 'Paragraph') return
    for (const sentence of splitAST(node).children) {
      if (sentence.type !== 'Sentence') continue
      const words = wordsOf(sentence)
      if (words.length > limits.sentenceWords) {
        report(file, sentence.loc.start.line, tooLong('sentence', words, limits.sentenceWords))
      }
    }
    for (let line = node.loc.start.line; line <= node.loc.end.line; line++) {
      const { length } = lines[line - 1]
      if (length > limits.lineCharacters) {
        report(file, line, `a line of ${length} characters: break it before ${limits.lineCharacters}`)
      }
    }
  })
}

function tooLong(kind, words, limit) {
  return `a ${kind} of ${words.length} words, at most ${limit}: "${words.slice(0, 8).join(' ')} …"`
}

/** Code counts as one word. A link counts as the words that a reader sees. */
function wordsOf(node) {
  let text = ''
  visit(node, ({ type, value }) => {
    if (type === 'Code') text += 'code'
    else if (type === 'Str') text += value
    else if (type === 'WhiteSpace' || type === 'Punctuation' || type === 'Break') text += value ?? ' '
  })
  return text.split(/\s+/).filter(word => /[\p{L}\p{N}]/u.test(word))
}

function visit(node, look) {
  look(node)
  for (const child of node.children ?? []) visit(child, look)
}

function checkTitles(file, text) {
  for (const { 2: title, index } of text.matchAll(
    /^\s*(?:test|it|describe|suite)(?:\.\w+)?\(\s*(['"`])((?:\\.|(?!\1).)*)\1/gms,
  )) {
    const first = forbiddenFirstWords.exec(title)
    if (first === null) continue
    report(file, lineAt(text, index), `a test title starts with "${first[0]}": name the subject first`)
  }
}

function checkPhrases(file, text) {
  for (const [phrase, instead] of forbiddenPhrases) {
    for (const { index } of text.matchAll(new RegExp(`\\b${phrase.replaceAll(' ', '\\s+')}\\b`, 'gi'))) {
      report(file, lineAt(text, index), `"${phrase}": ${instead}`)
    }
  }
}

function lineAt(text, index) {
  return text.slice(0, index).trimEnd().split('\n').length
}
