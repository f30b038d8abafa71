// lido/piscina in CommonJS: the class itself, by default and by name.
import type { PiscinaTask } from 'lido/piscina'
import DefaultPiscina, { Piscina as NamedPiscina } from 'lido/piscina'

import Piscina = require('lido/piscina')

const piscina = new Piscina<string, number>({ filename: require.resolve('./handler.cjs') })
const length: Promise<number> = piscina.run('text')
// @ts-expect-error the pool takes strings
piscina.run(1)
const same: Piscina<string, number> = new DefaultPiscina<string, number>()
const named: NamedPiscina<string, number> = new NamedPiscina<string, number>()
const options: Piscina.Options = { maxThreads: 2 }
const first = (task: PiscinaTask): number => task.taskId
const queue: Piscina.TaskQueue = new Piscina.FixedQueue()

export const { options: filledIn, run } = piscina
void [length, same, named, options, first, queue, Piscina.move(new ArrayBuffer(1)), Piscina.version]
