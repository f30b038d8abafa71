// Records traces and profiles of pools.
export {}
