// The page of examples/rendering. The servers of bar P13 send it.
export { default } from '../../examples/rendering/page.js'
