// The configured defaults of what actions leave open, as servers and clients take them.

import { present, type SettingDefaultOptions } from '@reprise/core'
import type { Configuration } from './settings.ts'

export function settingDefaults(values: Configuration): SettingDefaultOptions {
  const { defaultTimeout, defaultQueueTtl, defaultBackoff } = values
  return present({ timeout: defaultTimeout, queueTtl: defaultQueueTtl, backoff: defaultBackoff })
}
