// Runs the tests on other versions of Node, each installed from npm into build/nodes/<major>.
//   node scripts/test-nodes.js               20, 22, 24 and 26, every suite
//   node scripts/test-nodes.js 22 26 unit    these versions, this suite
import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { delimiter, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { compiler } from './compiler.js'

const root = dirname(dirname(fileURLToPath(import.meta.url)))
const testScript = join(root, 'scripts', 'test.js')
const isWindows = process.platform === 'win32'

const versions = process.argv.slice(2).filter(word => /^\d/.test(word))
const suites = process.argv.slice(2).filter(word => !/^\d/.test(word))
if (versions.length === 0) versions.push('20', '22', '24', '26')

// Builds and type-checks once, so that every version of Node tests the same output.
run(process.execPath, [join(root, 'scripts', 'build.js')], 'the build')
run(process.execPath, [compiler, '-p', 'tsconfig.test.json'], 'the type check')

const rows = versions.map(testOn)
console.log('')
console.table(Object.fromEntries(rows.map(({ version, ...row }) => [version, row])))
process.exitCode = rows.every(({ exitCode }) => exitCode === 0) ? 0 : 1

function testOn(version) {
  const node = installed(version)
  if (node === undefined) return { version, node: 'not installed', result: '', exitCode: 1 }
  const actual = spawnSync(node, ['--version'], { encoding: 'utf8' }).stdout.trim()
  console.log(`\n══ Node ${actual} ${'═'.repeat(64)}`)
  const env = { ...process.env, PATH: `${dirname(node)}${delimiter}${process.env.PATH}` }
  const { status, stdout } = spawnSync(node, [testScript, '--built', '--tier', 'all', ...suites], {
    cwd: root,
    env,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'inherit'],
    maxBuffer: 2 ** 28,
  })
  process.stdout.write(stdout)
  return { version, node: actual, result: stdout.trim().split('\n').at(-1), exitCode: status ?? 1 }
}

/** The path of the binary. Prints the reason and returns `undefined` if the installation fails. */
function installed(version) {
  const folder = join(root, 'build', 'nodes', version)
  const binary = join(folder, 'node_modules', 'node', 'bin', isWindows ? 'node.exe' : 'node')
  if (works(binary)) return binary
  mkdirSync(folder, { recursive: true })
  writeFileSync(join(folder, 'package.json'), '{ "private": true }\n')
  const flags = ['--no-audit', '--no-fund', '--no-package-lock', '--ignore-scripts=false']
  const npm = isWindows ? 'npm.cmd' : 'npm'
  spawnSync(npm, ['install', '--prefix', folder, ...flags, `node@${version}`], {
    cwd: folder,
    stdio: 'inherit',
    shell: isWindows,
  })
  // Some versions of npm do not run the install script of the binary, and only print a warning.
  const script = join(folder, 'node_modules', 'node', 'installArchSpecificPackage.js')
  if (!works(binary) && existsSync(script)) {
    spawnSync(process.execPath, [script], { cwd: dirname(script), stdio: 'inherit' })
  }
  if (works(binary)) return binary
  console.error(
    `Node ${version} could not be installed: ${binary} does not run. Check the output of npm above.`,
  )
  return undefined
}

function works(binary) {
  return existsSync(binary) && spawnSync(binary, ['--version']).status === 0
}

function run(command, args, what) {
  if (spawnSync(command, args, { cwd: root, stdio: 'inherit' }).status === 0) return
  console.error(`${what} failed`)
  process.exit(1)
}
