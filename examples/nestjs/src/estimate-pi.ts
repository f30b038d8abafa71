// The computation: counts the random points that lie within the quarter circle.

export interface Estimate {
  pi: number
  points: number
}

export function estimatePi(points: number): Estimate {
  let within = 0
  for (let point = 0; point < points; point++) {
    if (Math.random() ** 2 + Math.random() ** 2 <= 1) within++
  }
  return { pi: (4 * within) / points, points }
}
