// All packages have one version, so that this is the command's own.

export { VERSION } from '@reprise/core'
