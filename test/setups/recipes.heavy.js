// The programs of the recipes that need packages from the npm registry, exactly as the pages show them. Only `npm run setups` runs this file.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { readdirSync, readFileSync } from 'node:fs'
import { request } from 'node:http'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { test } from 'node:test'
import { withServerIn, writeProgramsTo } from '../package/program-files.js'
import { install, root } from './project.js'
import { recipePackages } from './recipe-packages.js'

const tested = []

/** Defines a test of one recipe. `use` gets the page, and a project with lido and the packages of the page. */
function recipeTest(name, title, use) {
  tested.push(name)
  test(title, { timeout: 300_000 }, async () => {
    // The script of onnxruntime-node downloads a library for graphics cards. The programs do not use it.
    const project = await install(`recipe-${name}`, [...recipePackages[name], '--ignore-scripts'])
    await use(readFileSync(join(root, 'docs', 'recipes', `${name}.md`), 'utf8'), project)
  })
}

recipeTest(
  'inference',
  'the server of inference.md tells the direction of a point',
  async (page, project) => {
    writeProgramsTo(project.folder, page)
    await project.node('make-model.mjs')
    await withServerIn(project.folder, page, 'server.mjs', async address => {
      const direction = async (x, y) => await (await fetch(`${address}/?x=${x}&y=${y}`)).text()
      assert.equal(await direction(0.2, 0.9), 'north')
      const points = Array.from({ length: 40 }, (_, index) => (index % 2 === 0 ? [5, 1] : [-3, 1]))
      assert.deepEqual(
        await Promise.all(points.map(([x, y]) => direction(x, y))),
        points.map(([x]) => (x > 0 ? 'east' : 'west')),
      )
    })
  },
)

recipeTest('pdf', 'the server of pdf.md sends an invoice of many pages', async (page, project) => {
  await withServerIn(project.folder, page, 'server.mjs', async address => {
    const left = request(`${address}/1`, { agent: false }).on('error', () => {})
    await once(left.end(), 'finish')
    left.destroy()
    const response = await fetch(`${address}/1001`)
    assert.equal(response.headers.get('content-type'), 'application/pdf')
    const file = Buffer.from(await response.arrayBuffer()).toString('latin1')
    assert.ok(file.startsWith('%PDF-1.'), file.slice(0, 20))
    assert.ok(file.trimEnd().endsWith('%%EOF'), file.slice(-20))
    const [, pages] = /\/Type \/Pages\s+\/Count (\d+)/.exec(file)
    assert.ok(Number(pages) > 10, `${pages} pages`)
  })
})

recipeTest(
  'spreadsheets',
  'the program of spreadsheets.md prints what the page shows',
  async (page, project) => {
    writeProgramsTo(project.folder, page)
    const [, shown] = /^```\n(damaged.*?)\n```/ms.exec(page)
    assert.equal(await project.node('main.mjs'), shown)
  },
)

recipeTest(
  'zip',
  'the server of zip.md unpacks an archive, and refuses a harmful one',
  async (page, project) => {
    const { zipSync } = createRequire(project.path('main.js'))('fflate')
    const text = words => new TextEncoder().encode(words)
    const zeros = new Uint8Array(60_000_000)
    await withServerIn(project.folder, page, 'server.mjs', async address => {
      const send = async body => {
        const response = await fetch(address, { method: 'POST', body })
        return `${response.status} ${await response.text()}`
      }
      const unpacked = () => readdirSync(project.path('uploads'), { recursive: true })

      assert.equal(
        await send(zipSync({ 'a.txt': text('one'), folder: { 'b.txt': text('two') } })),
        '200 2 files',
      )
      const [id] = unpacked()
      assert.equal(readFileSync(project.path('uploads', id, 'folder', 'b.txt'), 'utf8'), 'two')

      const before = unpacked()
      assert.equal(await send(zipSync({ a: zeros, b: zeros })), '413 The archive is too large')
      const many = Array.from({ length: 1_001 }, (_, index) => [`${index}`, text('')])
      assert.equal(await send(zipSync(Object.fromEntries(many))), '413 The archive is too large')
      assert.equal(
        await send(zipSync({ '../a.txt': text('one') })),
        "400 '../a.txt' is outside of the folder",
      )
      assert.equal(await send(Buffer.alloc(20_000_001)), '413 The upload is too large')
      assert.match(await send('no archive'), /^400 /)
      assert.deepEqual(unpacked(), before)

      assert.equal(await send(withSmallSize(zipSync({ 'bomb.bin': zeros }))), '200 1 files')
      const bomb = unpacked().find(name => name.endsWith('bomb.bin'))
      assert.equal(readFileSync(project.path('uploads', bomb)).length, 10)
    })
  },
)

/** An archive of one file whose directory says that the file has 10 bytes. */
function withSmallSize(archive) {
  const bytes = Buffer.from(archive)
  const entry = bytes.indexOf(Buffer.from('PK\x01\x02', 'latin1'))
  bytes.writeUInt32LE(10, entry + 24)
  return bytes
}

test('every recipe with packages from the registry has a test', () => {
  assert.deepEqual(tested.sort(), Object.keys(recipePackages).sort())
})
