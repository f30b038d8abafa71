// Entry point `lido/pino`: a logger for handlers, whose lines the logger of the host writes.
export {}
