// Problem details (RFC 9457): what every error of the API looks like.

import { ERRORS, type ErrorCode } from '@reprise/core'
import { z } from 'zod'

export const ERROR_CODES = Object.keys(ERRORS) as [ErrorCode, ...ErrorCode[]]

export const ProblemView = z
  .object({
    type: z.string().meta({ description: 'The page that explains the code.' }),
    title: z.string(),
    status: z.int(),
    code: z.enum(ERROR_CODES),
    detail: z.string().meta({ description: 'What happened, what it means, what to do.' }),
    requestId: z.string(),
    error: z.string().optional().meta({ description: 'A fixed text, on routes that promise one.' }),
    problems: z
      .array(z.object({ path: z.string(), message: z.string() }))
      .optional()
      .meta({ description: 'What is wrong with the input, one by one.' }),
  })
  .meta({ id: 'Problem' })
