// Writes the pages of types into `docs/types`: a page for each module of the package, and a page for each class and interface.
import { existsSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { Application, Converter } from 'typedoc'
import { root } from './pages.js'

export async function writeTypePages() {
  const { exports } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
  const doors = Object.keys(exports).filter(door => door !== './package.json')
  const entries = doors.map(door => ({ name: door.replace(/^\./, 'lido'), file: sourceOf(door) }))
  const out = join(root, 'docs', 'types')
  rmSync(out, { recursive: true, force: true })
  const app = await Application.bootstrapWithPlugins({
    plugin: ['typedoc-plugin-markdown'],
    tsconfig: join(root, 'tsconfig.json'),
    basePath: join(root, 'src'),
    entryPoints: entries.map(({ file }) => join(root, 'src', file)),
    out,
    name: 'Types',
    router: 'member',
    membersWithOwnFile: ['Class', 'Interface'],
    entryFileName: 'index.md',
    readme: 'none',
    logLevel: 'Warn',
    // `npm test` checks the types.
    skipErrorChecking: true,
    treatWarningsAsErrors: true,
    excludePrivate: true,
    excludeInternal: true,
    excludeExternals: true,
    disableSources: true,
    hidePageHeader: true,
    hideBreadcrumbs: true,
    // Vue reads a bare `<` as a tag.
    useHTMLEncodedBrackets: true,
    // The anchors of TypeDoc are not always the ids that VitePress gives to headings.
    useHTMLAnchors: true,
    anchorPrefix: 'type-',
    sanitizeComments: true,
    parametersFormat: 'table',
    interfacePropertiesFormat: 'table',
    classPropertiesFormat: 'table',
    propertyMembersFormat: 'table',
    typeDeclarationFormat: 'table',
  })
  app.converter.on(Converter.EVENT_RESOLVE_BEGIN, ({ project }) => {
    for (const module of project.children) {
      const entry = entries.find(({ file }) => file.replace(/(\/index)?\.ts$/, '') === module.name)
      module.name = entry.name
    }
  })
  const project = await app.convert()
  await app.generateOutputs(project)
  if (app.logger.hasErrors() || app.logger.hasWarnings())
    throw new Error('TypeDoc reports problems: see above.')
}

function sourceOf(door) {
  const name = door === '.' ? 'index' : door.slice('./'.length)
  const file = `${name}.ts`
  return existsSync(join(root, 'src', file)) ? file : `adapters/${name}/index.ts`
}
