import { testSection } from '../harness/test-section.js'

await testSection('event-loop')
