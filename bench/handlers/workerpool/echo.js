// The handler in workerpool's dialect: methods registered by name.
import workerpool from 'workerpool'

workerpool.worker({ echo: payload => payload })
