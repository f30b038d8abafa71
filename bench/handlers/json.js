// What a body's bytes mean: the way of examples/body by hand.
export { default } from '../../examples/body/orders.js'
