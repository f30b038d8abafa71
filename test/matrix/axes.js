// What a case is made of, and when each of its happenings is. A case has one value of each axis; all else follows.

/** In a task's own order. Something happens while it is there, on the host's thread, in one turn. */
export const moments = ['before', 'call', 'starting', 'queued', 'running', 'answering', 'after']

/** What each is to a pool. */
export const backends = {
  lane: { backend: 'thread' },
  port: { backend: 'thread', transport: 'messages' },
  process: { backend: 'process' },
  inline: { backend: 'inline' },
}

/** What becomes of the handler, when nothing befalls it. */
const outcomes = ['returns', 'throws', 'throwsData', 'unclonable', 'loops', 'never']

/** Each with its moment. */
const fates = {
  lives: null,
  /** The file throws when the first worker loads it; or ends its worker. */
  throwsAtStart: 'starting',
  exitsAtStart: 'starting',
  exits: 'running',
  crashes: 'running',
  terminated: 'running',
  recycled: 'running',
  /** It is the last task that its worker takes. */
  retired: null,
  exitsIdle: 'after',
}

const cancelMoments = moments.filter(moment => moment !== 'call')
const closeMoments = moments.filter(moment => moment !== 'before')
const at = (names, moments) => names.flatMap(name => moments.map(moment => `${name} ${moment}`))

/** By the order of a case's name. */
export const axes = {
  backend: Object.keys(backends),
  outcome: outcomes,
  cancel: ['uncancelled', ...at(['signal', 'limit'], cancelMoments)],
  fate: Object.keys(fates),
  close: ['open', ...at(['close', 'force', 'destroy'], closeMoments)],
}

/** Within a moment in this order: what takes effect in a turn of its own comes last. */
const order = ['signal', 'limit', 'exitsIdle', 'terminated', 'recycled', 'close', 'force', 'destroy']

export function nameOf(axisValues) {
  return Object.keys(axes)
    .map(axis => axisValues[axis])
    .join(' / ')
}

/** A case with its name and its happenings, `{ what, at }`, in order. */
function makeCase(axisValues) {
  const happenings = []
  for (const told of [axisValues.cancel, axisValues.close]) {
    const [what, moment] = told.split(' ')
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

/** `null`: the pool is not closed by the case. */
export function endOf({ happenings }) {
  return happenings.find(({ what }) => what === 'close' || what === 'force' || what === 'destroy') ?? null
}

/** Every case, in the order of the axes. */
export function* everyCase() {
  for (const backend of axes.backend)
    for (const outcome of axes.outcome)
      for (const cancel of axes.cancel)
        for (const fate of axes.fate)
          for (const close of axes.close) yield makeCase({ backend, outcome, cancel, fate, close })
}
