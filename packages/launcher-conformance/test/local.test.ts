// The launchers without a cloud pass the suite.

import { exerciseLauncher } from '../src/index.ts'
import { http, processes } from './local-stages.ts'

exerciseLauncher(processes)
exerciseLauncher(http)
