// The page that the servers of P13 answer with: the one of examples/rendering.
export { default } from '../../examples/rendering/page.js'
