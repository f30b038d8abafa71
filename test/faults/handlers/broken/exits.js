process.exit(4)
