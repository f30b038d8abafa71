import type { TinypoolState } from 'lido/tinypool'

declare global {
  namespace NodeJS {
    interface Process {
      __tinypool_state__: TinypoolState
    }
  }
}

export * from 'lido/tinypool'
export { default } from 'lido/tinypool'
