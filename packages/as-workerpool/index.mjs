// The module `lido/workerpool`, for programs that import `workerpool`.
export * from 'lido/workerpool'
export { default } from 'lido/workerpool'
