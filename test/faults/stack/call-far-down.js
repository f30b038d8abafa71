// A call from the last frames of the stack.

/** What `call` returned, or `null` where it threw. It has been called before: the end of the stack is no place to compile. */
export function callFarDown(framesAbove, call) {
  let unwound = 0
  let returned = null
  const descend = () => {
    try {
      return descend()
    } catch (overflow) {
      if (unwound++ === framesAbove) returned = attempt(call)
      throw overflow
    }
  }
  attempt(descend)
  return returned
}

function attempt(call) {
  try {
    return call()
  } catch {
    return null
  }
}
