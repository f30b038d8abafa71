// Entry point `lido/prometheus`: the figures of pools as metrics of `prom-client`.
export {}
