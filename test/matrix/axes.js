// The axes of a case and the moments of its events. A case has one value of each axis. Everything else follows from these values.

/** The moments in the life of a task, in order. An event of a moment happens on the host's thread, in one turn. */
export const moments = ['before', 'call', 'starting', 'queued', 'running', 'answering', 'after']

/** The pool options of each backend. */
export const backends = {
  lane: { backend: 'thread' },
  port: { backend: 'thread', transport: 'messages' },
  process: { backend: 'process' },
  inline: { backend: 'inline' },
}

/** How the handler ends when no event interrupts it. */
const outcomes = ['returns', 'throws', 'throwsData', 'unclonable', 'loops', 'never']

/** The fate of the worker, with its moment. */
const fates = {
  lives: null,
  /** The handler's file throws when the first worker loads it, or exits its worker. */
  throwsAtStart: 'starting',
  exitsAtStart: 'starting',
  exits: 'running',
  crashes: 'running',
  terminated: 'running',
  recycled: 'running',
  /** The task is the last task of its worker. */
  retired: null,
  exitsIdle: 'after',
}

const cancelMoments = moments.filter(moment => moment !== 'call')
const closeMoments = moments.filter(moment => moment !== 'before')
const at = (names, moments) => names.flatMap(name => moments.map(moment => `${name} ${moment}`))

/** In the order of a case's name. */
export const axes = {
  backend: Object.keys(backends),
  outcome: outcomes,
  cancel: ['uncancelled', ...at(['signal', 'limit'], cancelMoments)],
  fate: Object.keys(fates),
  close: ['open', ...at(['close', 'force', 'destroy'], closeMoments)],
  way: ['run', 'map', 'stream'],
}

/** The order of events within a moment. Events that take effect in a later turn come last. */
const order = ['signal', 'limit', 'exitsIdle', 'terminated', 'recycled', 'close', 'force', 'destroy']

export function nameOf(axisValues) {
  return Object.keys(axes)
    .map(axis => axisValues[axis])
    .join(' / ')
}

/** Creates a case with its name and its events, `{ what, at }`, in order. */
function makeCase(axisValues) {
  const happenings = []
  for (const value of [axisValues.cancel, axisValues.close]) {
    const [what, moment] = value.split(' ')
    if (moment !== undefined) happenings.push({ what, at: moment })
  }
  const fateMoment = fates[axisValues.fate]
  if (fateMoment !== null) happenings.push({ what: axisValues.fate, at: fateMoment })
  return { ...axisValues, name: nameOf(axisValues), happenings: happenings.sort(byTime) }
}

function byTime(one, other) {
  const byMoment = moments.indexOf(one.at) - moments.indexOf(other.at)
  return byMoment === 0 ? placeOf(one.what) - placeOf(other.what) : byMoment
}

function placeOf(what) {
  const place = order.indexOf(what)
  return place < 0 ? order.length : place
}

export function happensAt({ happenings }, moment) {
  return happenings.some(happening => happening.at === moment)
}

/** The event that closes the pool, or `null`. */
export function endOf({ happenings }) {
  return happenings.find(({ what }) => what === 'close' || what === 'force' || what === 'destroy') ?? null
}

/** Every combination, in the order of the axes. */
export function* everyCase() {
  for (const backend of axes.backend)
    for (const outcome of axes.outcome)
      for (const cancel of axes.cancel)
        for (const fate of axes.fate)
          for (const close of axes.close)
            for (const way of axes.way) yield makeCase({ backend, outcome, cancel, fate, close, way })
}
