// Runs the functions that `pool.call()` sends as text.
import { adviceForVariable, functionHelpers } from '../../shared/messages/function-text.js'
import { types } from '../../shared/platform/node-modules.js'

type SentFunction = (...args: unknown[]) => unknown

const MAX_FUNCTIONS = 500
/** In stacks, stands for the file of the function. */
const SOURCE = 'pool.call()'
/** By their texts, for all workers of this thread. */
const functions = new Map<string, SentFunction>()
// biome-ignore lint/security/noGlobalEval: only a function of the host is evaluated, as its text.
const evaluate = globalThis.eval
const helpers = [...functionHelpers].map(([name, code]) => `const ${name} = ${code};`).join(' ')

/** The handler of all calls. `sent`: the arguments, then the text. */
export function runFunctionText(sent: unknown): unknown {
  const args = [...(sent as unknown[])]
  const text = args.pop() as string
  try {
    const result = functionOf(text)(...args)
    return types.isPromise(result) ? explained(result) : result
  } catch (thrown) {
    throw withAdvice(thrown)
  }
}

async function explained(result: Promise<unknown>): Promise<unknown> {
  try {
    return await result
  } catch (thrown) {
    throw withAdvice(thrown)
  }
}

function functionOf(text: string): SentFunction {
  const known = functions.get(text)
  if (known !== undefined) return known
  // A function, so that `this` of an arrow function is undefined. The text is in the first line, as its stacks say.
  const code = `(function () { 'use strict'; ${helpers} return (${text}\n) })\n//# sourceURL=${SOURCE}`
  const made = makeFunction(code)
  if (functions.size >= MAX_FUNCTIONS) functions.clear()
  functions.set(text, made)
  return made
}

function makeFunction(code: string): SentFunction {
  try {
    return evaluate(code).call(undefined)
  } catch (cause) {
    const why =
      (cause as Error).name === 'EvalError' ? 'this program forbids code from strings' : String(cause)
    throw new Error(
      `The worker cannot make a function from its text: ${why}. Export the function from a file, and call it with run().`,
      { cause },
    )
  }
}

/** Adds the advice to the error for a variable that the function does not have. */
function withAdvice(thrown: unknown): unknown {
  if (
    !(thrown instanceof ReferenceError) ||
    !thrown.stack
      ?.split('\n')
      .slice(1, 3)
      .some(line => line.includes(SOURCE))
  )
    return thrown
  const name = /^(\S+) is not defined$|^Can't find variable: (\S+)$/.exec(thrown.message)
  if (name === null) return thrown
  const message = `${thrown.message}. pool.call() sends a function without the variables around it. ${adviceForVariable(name[1] ?? name[2]!)}`
  return Object.assign(new ReferenceError(message, { cause: thrown }), {
    stack: thrown.stack.replace(thrown.message, message),
  })
}
