// An error as people read it: the message, then its own frames; those of libraries and of the runtime are folded.

import { useState } from 'react'
import { many } from '../format.ts'
import { Copy } from './texts.tsx'

interface Said {
  readonly code: string
  readonly name: string
  readonly message: string
  readonly stack?: string | null | undefined
  readonly reason: string
  readonly retriable: boolean
}

const FOREIGN = /node_modules|node:internal|\(node:|<anonymous>|\/packages\/worker\/src\//

export function FailureText({ failure }: { readonly failure: Said }) {
  const [isWhole, setWhole] = useState(false)
  const { code, name, message, stack, reason, retriable } = failure
  const frames = (stack ?? '').split('\n').filter((line) => /^\s+at /.test(line))
  const own = frames.filter((line) => !FOREIGN.test(line))
  const hidden = frames.length - own.length
  return (
    <div className="min-w-0">
      <p className="font-semibold break-words whitespace-pre-wrap text-dead">
        ✕ <bdi>{message}</bdi>
      </p>
      <p className="text-sm text-dim">
        <bdi>{name}</bdi> · code <bdi className="font-mono">{code}</bdi> · {reason} ·{' '}
        {retriable ? 'may pass' : 'does not pass by itself'}
      </p>
      {frames.length > 0 && (
        <div className="mt-1 rounded-sm bg-sunken px-2 py-1.5">
          <section aria-label="Frames" className="font-mono text-sm wrap-anywhere whitespace-pre-wrap">
            {(isWhole ? frames : own).map((line) => line.trim()).join('\n')}
          </section>
          <div className="mt-1 flex gap-2">
            {hidden > 0 && (
              <button type="button" className="button h-6 text-sm" onClick={() => setWhole(!isWhole)}>
                {isWhole ? 'Own code only' : `${many(hidden, 'frame')} of others`}
              </button>
            )}
            <Copy text={stack ?? message} label="Copy stack" />
          </div>
        </div>
      )}
    </div>
  )
}
