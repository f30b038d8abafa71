// The echo handler for workerpool, which registers methods by name.
import workerpool from 'workerpool'

workerpool.worker({ echo: payload => payload })
