// Waiting for what happens in other processes: nobody who waits is forgotten because somebody else in its process waits too.

import { actionName, DEFAULT_POOL, type Engine, systemClock, taskId, workerId } from '@reprise/core'
import { openRedisEngine } from '@reprise/engine-redis'
import { type RunningRedis, startRedis } from '@reprise/test-servers'
