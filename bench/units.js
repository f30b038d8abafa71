// Formats figures with two or three significant digits.

export function formatFigure(value, unit) {
  switch (unit) {
    case 'per second':
      return formatRate(value)
    case 'share':
      return formatShare(value)
    case 'times':
      return `${formatRatio(value)} times`
    default:
      return `${formatNumber(value)} ${unit}`
  }
}

export function formatRatio(ratio) {
  if (ratio >= 9.95) return ratio.toFixed(1)
  return ratio >= 0.995 ? ratio.toFixed(2) : ratio.toFixed(3)
}

function formatRate(rate) {
  if (rate >= 999_500) return `${(rate / 1e6).toFixed(2)}M`
  if (rate >= 99_950) return `${(rate / 1e3).toFixed(0)}k`
  if (rate >= 1_000) return `${(rate / 1e3).toFixed(1)}k`
  return rate.toFixed(0)
}

function formatShare(share) {
  const percent = share * 100
  return `${percent < 1 ? percent.toFixed(2) : percent.toFixed(1)} %`
}

function formatNumber(value) {
  return value >= 99.5 ? value.toFixed(0) : value.toPrecision(2)
}
