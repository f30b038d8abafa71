// The colours of pictures. An element names a colour as `var(--accent)`. In a page of the site, `theme/style.css` sets the
// colours. Elsewhere the picture's own style sets them, by the colour scheme of the reader's system.

const light = '--text:#1f2933;--muted:#52606d;--line:#7b8794;--box:#f1f4f7;--accent:#0b6e4f;--other:#9aa5b1'
const dark = '--text:#e6e9ec;--muted:#a3adb8;--line:#8a95a1;--box:#242a31;--accent:#5fd3a6;--other:#6b7785'

/** An SVG picture with this content. `kind` decides how wide the site shows the picture. */
export function picture({ kind, width, height, content }) {
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" data-kind="${kind}" font-family="system-ui, sans-serif">
<style>svg{${light}}@media(prefers-color-scheme:dark){svg{${dark}}}</style>
${content.trim()}
</svg>
`
}

/** A line of text. `color` is one of the names above. */
export function words(x, y, size, color, text, { bold = false, end = false } = {}) {
  const extra = `${bold ? ' font-weight="600"' : ''}${end ? ' text-anchor="end"' : ''}`
  return `<text x="${x}" y="${y}" font-size="${size}" fill="var(--${color})"${extra}>${text}</text>`
}

export function round(number) {
  return Math.round(number * 10) / 10
}
