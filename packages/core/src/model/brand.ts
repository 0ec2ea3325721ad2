// Branded types: a string that has been checked once and says so in its type. A brand exists only at compile time.

declare const brand: unique symbol

export type Brand<T, Name extends string> = T & { readonly [brand]: Name }
