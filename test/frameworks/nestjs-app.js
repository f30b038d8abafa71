// A Nest program for one test, closed when the test ends. Its decorators are applied as functions: the tests are JavaScript.
import 'reflect-metadata'
import { Controller, Get, Module, Post } from '@nestjs/common'
import { NestFactory } from '@nestjs/core'
import { getPoolToken } from 'lido/nestjs'
import { work } from './held.js'

// A handler of a cancelled task has unlimited time to report the cancellation.
export const oneWorker = { filename: work, minWorkers: 1, maxWorkers: 1, cancelGrace: Infinity }

/** A controller of the routes `{ path: handler }`. `parameters` decorate the parameters of every handler, in order. */
export function controllerOf(routes, dependencies, parameters = [], method = Get) {
  class Routes {
    constructor(...given) {
      this.given = given
    }
  }
  for (const [path, handler] of Object.entries(routes)) {
    Routes.prototype[path] = function (...values) {
      return handler(...this.given, ...values)
    }
    const descriptor = Object.getOwnPropertyDescriptor(Routes.prototype, path)
    parameters.forEach((decorate, index) => {
      decorate(Routes.prototype, path, index)
    })
    method(path)(Routes.prototype, path, descriptor)
  }
  dependencies.forEach((inject, index) => {
    inject(Routes, undefined, index)
  })
  Controller()(Routes)
  return Routes
}

export const postOf = (routes, dependencies, parameters) =>
  controllerOf(routes, dependencies, parameters, Post)

export function moduleOf(definition) {
  class Root {}
  Module(definition)(Root)
  return Root
}

/** Opens an initialised app that does not listen. */
export async function openNest(t, definition, adapter, given = {}) {
  const options = { logger: false, abortOnError: false, forceCloseConnections: true, ...given }
  const root = moduleOf(definition)
  const app = await (adapter ? NestFactory.create(root, adapter, options) : NestFactory.create(root, options))
  t.after(async () => {
    await app.get(getPoolToken(), { strict: false })?.destroy()
    await app.close()
  })
  await app.init()
  return app
}

/** Opens an app that listens. Returns it with its port, URL and pool. */
export async function serveNest(t, definition, adapter, given) {
  const app = await openNest(t, definition, adapter, given)
  await app.listen(0, '127.0.0.1')
  const { port } = app.getHttpServer().address()
  return { app, port, url: `http://127.0.0.1:${port}`, pool: app.get(getPoolToken(), { strict: false }) }
}
