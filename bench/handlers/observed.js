export function spin(ms) {
  const end = performance.now() + ms
  while (performance.now() < end);
}

export const echo = value => value
