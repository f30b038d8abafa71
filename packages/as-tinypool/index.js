// The module `lido/tinypool`, for programs that import `tinypool`.
export * from 'lido/tinypool'
export { default } from 'lido/tinypool'
