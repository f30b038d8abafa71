// The echo handler for lido/workerpool.
import workerpool from 'lido/workerpool'

workerpool.worker({ echo: payload => payload })
