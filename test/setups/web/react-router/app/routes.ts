import { index, type RouteConfig, route } from '@react-router/dev/routes'

export default [index('routes/home.tsx'), route('fib', 'routes/fib.ts')] satisfies RouteConfig
