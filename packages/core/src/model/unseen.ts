// Characters that nobody sees, or that change how others are seen: controls (C0, DEL, C1), marks that turn the direction of
// writing, zero-width and other characters without a form. A name with one looks like another name, and a terminal obeys
// some of them. Names refuse them (ids.ts), and what is shown to people has them as escapes (escape-unseen.ts).

/** Within an emoji two of them do no harm: the mark that makes a sign one, and the joiner between two. */
export const UNSEEN =
  /(?!\u200d|\ufe0f)[\p{Cc}\p{Cf}\p{DI}\u2028\u2029]|\ufe0f(?<!\p{ExtPict}\ufe0f)|\u200d(?:(?<![\p{ExtPict}\p{EMod}]\ufe0f?\u200d)|(?!\p{ExtPict}))/v
