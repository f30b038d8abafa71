// Additions to markdown-it, so that a page looks on the site as it looks on GitHub.
import { readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileOfEnvironment } from './links.js'
import { root } from './pages.js'

/** Puts SVG pictures into the page itself, so that they follow the colours of the site. */
export function inlinePictures(md) {
  const renderImage = md.renderer.rules.image
  md.renderer.rules.image = (tokens, index, options, env, self) => {
    const source = tokens[index].attrGet('src')
    if (!/^[^/:]+(\/[^/:]+)*\.svg$/.test(source)) return renderImage(tokens, index, options, env, self)
    const file = join(root, dirname(fileOfEnvironment(env)), source)
    const svg = readFileSync(file, 'utf8').replace(/<style>.*?<\/style>/s, '')
    const alt = md.utils.escapeHtml(tokens[index].content)
    return `<span class="picture" role="img" aria-label="${alt}" v-pre>${svg.trim()}</span>`
  }
}

/** Makes a checkbox of `[ ]` at the start of a list item. */
export function checkboxes(md) {
  md.core.ruler.push('checkboxes', ({ tokens, Token }) => {
    for (const [index, { type, children }] of tokens.entries()) {
      const isInItem = type === 'inline' && tokens[index - 2]?.type === 'list_item_open'
      if (!isInItem || !children[0]?.content.startsWith('[ ] ')) continue
      children[0].content = children[0].content.slice(4)
      const box = new Token('html_inline', '', 0)
      box.content = '<input type="checkbox" aria-label="done"> '
      children.unshift(box)
      tokens[index - 2].attrJoin('class', 'check')
    }
  })
}
