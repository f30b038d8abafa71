// The types of `lido/workerpool`.
export * from 'lido/workerpool'
export { default } from 'lido/workerpool'
