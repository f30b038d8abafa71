// The error text for a handler's file that did not load. The advice fits the loader, the test runner or the bundler of the program.
import { basename, existsSync, pathToFileURL } from '../platform/node-modules.js'
import { fileMeantBy } from '../platform/source-file.js'
import { processAdvice } from './only-processes.js'

/** @param why the name and the message of the cause */
export function loadMessage(file: string, cause: unknown, why: string): string {
  const { code } = Object(cause) as { code?: unknown }
  if (isMissing(file, code, why)) {
    return `There is no file ${file}. ${adviceForMissing(file)} The next call looks for it again.`
  }
  const source = fileMeantBy(file)
  const what =
    source === null
      ? `A worker could not load ${file} (${why}).`
      : `There is no file ${file}, and a worker could not load ${source} in its place (${why}).`
  if (isMadeByNext(file)) return `${what} It is a copy that the bundler of Next.js made. ${nextAdvice}`
  if (/MODULE_NOT_FOUND/.test(String(code)) && /[\\/][0-9a-f]{16,}\.[cm]?js$/.test(file))
    return `${what} A bundler copied the file without its imports. Add the plug-in of the package lido-bundle to the build.`
  return `${what} ${adviceFor(code, why)}`
}

/** The file of a module or of a native addon is missing, or it is a folder. */
function isMissing(file: string, code: unknown, why: string): boolean {
  if (/MODULE_NOT_FOUND|DIR_IMPORT/.test(String(code)) && why.includes(`'${file}'`)) return true
  // The messages of Bun and of Deno.
  const { href } = pathToFileURL(file)
  const isNamed = [file, href].some(name => why.includes(`Cannot find module '${name}' imported`))
  return isNamed || why.includes(`Module not found "${href}"`)
}

function adviceForMissing(file: string): string {
  if (isMadeByNext(file)) return `It is an address that the bundler of Next.js made. ${nextAdvice}`
  const name = basename(file)
  if (/[\\/]\$bunfs[\\/]/.test(file))
    return `Add the handler to the build: bun build --compile main.js ${name}.`
  const correct = "Correct 'filename' or 'module', or create the file."
  if (!/[\\/](dist|build|out|lib|bin|output|server|chunks|\.\w[\w-]*)[\\/]/.test(file)) return correct
  const outside = `filename: join(process.cwd(), 'workers/${name.replace(/\.\w+$/, '')}.mjs')`
  return `${correct} If a bundler built this program, it did not emit the handler. Add the plug-in of the package lido-bundle to the build, or name a file outside of the bundle: ${outside}.`
}

/** A copy in `.next`, or an address such as `/_next/static/media/work.1a2b3c.js`. */
export function isMadeByNext(file: string): boolean {
  return /[\\/][._]next[\\/]/.test(file)
}

/** What a program with Next.js must do, for every error that its bundler causes. */
export const nextAdvice =
  "Name a file that Next.js does not bundle: filename: join(process.cwd(), 'workers/work.mjs')."

function adviceFor(code: unknown, why: string): string {
  const advice = adviceOf(code, why)
  return isInTestRunner() ? `${advice} ${inlineAdvice}` : advice
}

const inlineAdvice =
  "Or run the handler in the test itself: backend: 'inline', module: () => import('./work')."

function isInTestRunner(): boolean {
  return process.env.JEST_WORKER_ID !== undefined || process.env.VITEST !== undefined
}

function adviceOf(code: unknown, why: string): string {
  const onlyProcesses = processAdvice(code, why)
  if (onlyProcesses !== null) return onlyProcesses
  switch (code) {
    case 'ERR_UNKNOWN_FILE_EXTENSION':
      return `This version of Node.js cannot run files of this type. Compile the file, or ${setLoader()}`
    case 'ERR_UNSUPPORTED_TYPESCRIPT_SYNTAX':
      return `Node.js only removes types. Replace enums, namespaces and parameter properties, or ${setLoader()}`
    case 'ERR_UNSUPPORTED_NODE_MODULES_TYPE_STRIPPING':
      return 'Node.js runs no TypeScript files inside node_modules. Name the compiled file of the package.'
  }
  const source = importedSource(why)
  return source === null
    ? 'Fix the file. The next call loads it again.'
    : /ts$/.test(source)
      ? `Import the file by its full name, ${source}, or ${setLoader()}`
      : `Import the file by its full name, ${source}.`
}

/** The file that a missing import means, as TypeScript, Babel and bundlers resolve it. */
function importedSource(why: string): string | null {
  const imported = /Cannot find module '([^']+)' imported/.exec(why)?.[1]
  if (imported === undefined) return null
  const full = [`${imported}.js`, `${imported}/index.js`].find(existsSync)
  return full ?? fileMeantBy(imported) ?? fileMeantBy(`${imported}.js`)
}

/** Ends the sentence of the advice. Fits the loader that this program uses. */
function setLoader(): string {
  if (Symbol.for('ts-node.register.instance') in process)
    return "load ts-node in workers too: execArgv: ['--require', 'ts-node/register']."
  const tsx = "set a loader: execArgv: ['--import', 'tsx']."
  return isInTestRunner() ? tsx : `${tsx} With backend 'inline', start the program with the loader.`
}
