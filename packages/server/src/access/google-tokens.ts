// Google as an issuer of ID tokens (A12): its names, and where its keys are.

export const GOOGLE_ISSUERS = ['https://accounts.google.com', 'accounts.google.com'] as const
export const GOOGLE_JWKS_URL = 'https://www.googleapis.com/oauth2/v3/certs'
