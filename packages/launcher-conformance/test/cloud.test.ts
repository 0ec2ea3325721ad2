// The launchers on cloud platforms pass the suite, against fakes that speak the documented protocols.

import { exerciseLauncher } from '../src/index.ts'
import { cloudRun, ecs, kubernetes, lambdaByEvent, lambdaByRequest } from './cloud-stages.ts'

exerciseLauncher(ecs)
exerciseLauncher(lambdaByRequest)
exerciseLauncher(lambdaByEvent)
exerciseLauncher(cloudRun)
exerciseLauncher(kubernetes)
