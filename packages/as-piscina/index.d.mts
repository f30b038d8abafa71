// The names Piscina gives to ES modules.
export * from 'lido/piscina'
export { default } from 'lido/piscina'
