export function drawCharts() {}
